//! A sign of life on a terminal, where reading takes over a second.

use std::{
    sync::mpsc::{self, RecvTimeoutError, Sender},
    thread::{self, JoinHandle},
    time::Duration,
};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Shown after a second, gone with the value.
#[derive(Debug)]
pub(crate) struct Progress {
    bar: ProgressBar,
    done: Option<Sender<()>>,
    waiting: Option<JoinHandle<()>>,
}

impl Progress {
    /// Starts the clock.
    pub(crate) fn start(doing: &str) -> Self {
        const PATIENCE: Duration = Duration::from_secs(1);
        const TICK: Duration = Duration::from_millis(100);
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
        bar.set_style(ProgressStyle::default_spinner());
        bar.set_message(doing.to_owned());
        let (done, wait) = mpsc::channel();
        let shown = bar.clone();
        let waiting = thread::spawn(move || {
            if wait.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout) {
                shown.set_draw_target(ProgressDrawTarget::stderr());
                shown.enable_steady_tick(TICK);
            }
        });
        Self { bar, done: Some(done), waiting: Some(waiting) }
    }

    /// Says what is being done now.
    pub(crate) fn doing(&self, what: String) {
        self.bar.set_message(what);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        drop(self.done.take());
        if let Some(waiting) = self.waiting.take() {
            let _ = waiting.join();
        }
        self.bar.finish_and_clear();
    }
}
