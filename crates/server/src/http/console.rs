//! The console: a page for browsers, and the way to it.
//!
//! Its files hold nothing of the store, so they need no login.

use std::io::Read;

use axum::extract::{Path, Request};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Redirect, Response};
use flate2::read::GzDecoder;
use tonnage::Error;
use tonnage_console::{Asset, CONTENT_SECURITY_POLICY, asset};

use super::handler::{HandlerResult, not_found};

const OPENER_POLICY: HeaderName = HeaderName::from_static("cross-origin-opener-policy");
/// A name with a digest never has other bytes.
const FOR_A_YEAR: HeaderValue = HeaderValue::from_static("public, max-age=31536000, immutable");
const ASK_AGAIN: HeaderValue = HeaderValue::from_static("no-cache");
/// The largest file of the page, unpacked.
const UNPACKED_BYTES_MAX: u64 = 8 << 20;

/// Leads a browser to the page. Programs learn what there is, as at every other unknown path.
pub(super) async fn front(request: Request) -> Response {
    let wants_page = tokens(request.headers(), &header::ACCEPT).any(|kind| kind == "text/html");
    match wants_page {
        true => Redirect::temporary("/console/").into_response(),
        false => not_found(request).await.into_response(),
    }
}

/// The page itself.
pub(super) async fn page(headers: HeaderMap) -> HandlerResult<Response> {
    answer("", &headers)
}

/// A file of the page.
pub(super) async fn file(Path(name): Path<String>, headers: HeaderMap) -> HandlerResult<Response> {
    answer(&name, &headers)
}

fn answer(name: &str, asked: &HeaderMap) -> HandlerResult<Response> {
    let asset = asset(name)
        .ok_or_else(|| Error::not_found(format!("the console has no file {name}: reload it")))?;
    let is_held = tokens(asked, &header::IF_NONE_MATCH).any(|tag| tag == asset.etag || tag == "*");
    let mut response = match is_held {
        true => StatusCode::NOT_MODIFIED.into_response(),
        false => content(asset, asked)?,
    };
    let headers = response.headers_mut();
    headers.insert(header::ETAG, HeaderValue::from_static(asset.etag));
    headers.insert(header::VARY, HeaderValue::from_static("accept-encoding"));
    let keep = if asset.is_unchanging { FOR_A_YEAR } else { ASK_AGAIN };
    headers.insert(header::CACHE_CONTROL, keep);
    headers
        .insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(CONTENT_SECURITY_POLICY));
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    headers.insert(OPENER_POLICY, HeaderValue::from_static("same-origin"));
    Ok(response)
}

/// The bytes, compressed for clients that accept it.
fn content(asset: Asset, asked: &HeaderMap) -> HandlerResult<Response> {
    let kind = [(header::CONTENT_TYPE, asset.content_type)];
    if tokens(asked, &header::ACCEPT_ENCODING).any(|coding| coding == "gzip") {
        return Ok((kind, [(header::CONTENT_ENCODING, "gzip")], asset.bytes_gz).into_response());
    }
    let mut bytes = Vec::new();
    GzDecoder::new(asset.bytes_gz)
        .take(UNPACKED_BYTES_MAX)
        .read_to_end(&mut bytes)
        .map_err(|error| Error::internal(format!("{}: {error}", asset.name)))?;
    Ok((kind, bytes).into_response())
}

/// What a header lists, but for what it wants at no price (`q=0`).
fn tokens<'a>(headers: &'a HeaderMap, name: &HeaderName) -> impl Iterator<Item = &'a str> {
    let lines = headers.get_all(name).iter().filter_map(|line| line.to_str().ok());
    lines.flat_map(|line| line.split(',')).filter_map(|item| {
        let (token, parameters) = item.split_once(';').unwrap_or((item, ""));
        let weight = parameters.trim().strip_prefix("q=");
        let is_refused = weight.and_then(|weight| weight.parse().ok()) == Some(0.0_f32);
        (!is_refused).then(|| token.trim().trim_start_matches("W/"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_header_refuses_is_not_listed() {
        let mut headers = HeaderMap::new();
        headers.insert(header::ACCEPT_ENCODING, "br, gzip;q=0, identity;q=0.5".parse().unwrap());
        let found: Vec<&str> = tokens(&headers, &header::ACCEPT_ENCODING).collect();
        assert_eq!(found, ["br", "identity"]);
    }
}
