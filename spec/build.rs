//! The vectors are embedded: a new one has to be noticed.

fn main() {
    println!("cargo::rerun-if-changed=vectors");
}
