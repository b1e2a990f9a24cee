//! What no view may hold.

use turnfold_core::Window;

use super::{Judgement, Property};
use crate::{
    protocol::{Answer, ErrorClass},
    run::{Effect, Transcript},
    script::Op,
};

pub(super) const PROPERTIES: &[Property] = &[Property::script("view.limits", limits)];

fn limits(transcript: &Transcript) -> Judgement {
    Judgement::all(transcript.0.iter().map(|moment| {
        let Op::Pass(pass) = &moment.op else { return Judgement::Silent };
        let Ok(window) = pass.window.get() else { return Judgement::Silent };
        let why = match pass.view.get() {
            Err(why) => why.to_owned(),
            Ok(view) => match view.iter().find(|event| event.tokens().is_none()) {
                Some(event) if matches!(window, Window::Tokens(_)) => format!("`{}` has no weight", event.id),
                _ => return Judgement::Silent,
            },
        };
        let refused = matches!(
            &moment.result,
            Effect::Answered(Answer::Error(failed)) if failed.class == ErrorClass::InvalidView
        );
        Judgement::check(refused, || format!("the view was not refused: {why}"))
    }))
}
