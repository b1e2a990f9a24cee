//! The C contract.
