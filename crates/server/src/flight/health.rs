//! `grpc.health.v1`: tells load balancers and probes over gRPC whether the server accepts calls. It
//! needs no login, like `/health/ready`.

use std::convert::Infallible;
use std::sync::Arc;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use http_body::Frame;
use http_body_util::StreamBody;

use crate::context::ServerContext;
use crate::drain::DrainPhase;

const STATUS: &str = "grpc-status";

/// An answer in gRPC's framing: five bytes before a message of two, whose field 1 is the status.
const SERVING: &[u8] = &[0, 0, 0, 0, 2, 8, 1];
const NOT_SERVING: &[u8] = &[0, 0, 0, 0, 2, 8, 2];

/// The framing of a request that names no service: it asks for the server as a whole.
const WHOLE_SERVER: &[u8] = &[0, 0, 0, 0, 0];
/// The service that there is.
const FLIGHT: &[u8] = b"arrow.flight.protocol.FlightService";

/// The route of the call.
pub(super) fn router(context: &Arc<ServerContext>) -> Router {
    Router::new().route("/grpc.health.v1.Health/Check", post(check)).with_state(context.clone())
}

async fn check(State(context): State<Arc<ServerContext>>, request: Bytes) -> Response {
    let kind = ("content-type", "application/grpc");
    if request != WHOLE_SERVER && !request.ends_with(FLIGHT) {
        // 5 is NOT_FOUND.
        return ([kind, (STATUS, "5")], Body::empty()).into_response();
    }
    let status = match context.phases.current() {
        DrainPhase::Running => SERVING,
        _ => NOT_SERVING,
    };
    let mut trailers = HeaderMap::new();
    trailers.insert(STATUS, HeaderValue::from_static("0"));
    let frames = [Frame::data(Bytes::from_static(status)), Frame::trailers(trailers)];
    let frames = futures::stream::iter(frames.map(Ok::<_, Infallible>));
    ([kind], Body::new(StreamBody::new(frames))).into_response()
}
