//! The actions of Flight that move rows, pairs and large objects, for clients of HTTP that have no
//! gRPC. The other ones have paths of their own.

use arrow_flight::Action;
use axum::Extension;
use axum::body::{Body, Bytes};
use axum::extract::{Path, State};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use tonnage::Error;

use super::handler::{CallerExtension, ContextState, HandlerResult};
use crate::flight::{answers_with_frames, run_action};

const OFFERED: [&str; 8] = [
    "tonnage.Write",
    "tonnage.Get",
    "tonnage.GetPair",
    "tonnage.DeletePairs",
    "tonnage.DeleteLob",
    "tonnage.MultiPut",
    "tonnage.MultiGet",
    "tonnage.FetchAll",
];

/// Carries an action out. Its answers are consecutive frames, or lines of JSON.
pub(super) async fn act(
    State(context): ContextState,
    Extension(caller): CallerExtension,
    Path(action): Path<String>,
    body: Bytes,
) -> HandlerResult<Response> {
    context.check_open()?;
    if !OFFERED.contains(&action.as_str()) {
        return Err(Error::not_found(format!(
            "there is no action `{action}`: there are {}",
            OFFERED.join(", ")
        ))
        .into());
    }
    let has_frames = answers_with_frames(&action);
    let answers = run_action(&context, &caller, Action { r#type: action, body }).await?;
    let (kind, told) = match has_frames {
        true => ("application/octet-stream", answers.concat()),
        false => ("application/x-ndjson", lines(&answers)),
    };
    Ok(([(header::CONTENT_TYPE, kind)], Body::from(told)).into_response())
}

fn lines(answers: &[Vec<u8>]) -> Vec<u8> {
    let ends = answers.iter().map(|answer| [answer.as_slice(), b"\n"].concat());
    ends.collect::<Vec<_>>().concat()
}
