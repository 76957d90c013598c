//! The checks, as layers of both listeners.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, Uri, Version, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use tonnage::{Error, ErrorKind, Result};

use super::host_name::HostName;
use super::web_origin::WebOrigin;
use crate::auth::AccessDenied;
use crate::error::{Problem, status};

const SEC_FETCH_SITE: &str = "sec-fetch-site";
const RESOURCE_POLICY: &str = "cross-origin-resource-policy";

/// What a listener takes from browsers.
#[derive(Debug)]
pub(crate) struct BrowserGuard {
    /// The names that the server has beside the fixed ones.
    pub(crate) hosts: Vec<HostName>,
    /// Whether there are users: no browser has credentials for a name that was rebound.
    pub(crate) has_users: bool,
    /// Whether the listener itself speaks TLS.
    pub(crate) has_tls: bool,
    /// Whether the listener is a Unix socket, which no browser reaches.
    pub(crate) is_unix: bool,
}

/// Refuses what a page of another origin asks for, and what is asked of a strange host.
pub(crate) async fn guard_http(
    State(guard): State<Arc<BrowserGuard>>,
    request: Request,
    next: Next,
) -> Response {
    let mut response = match guard.check_http(&request) {
        Ok(()) => next.run(request).await,
        Err(problem) => problem.into_response(),
    };
    mark(&mut response);
    response
}

/// Refuses what a page of another origin asks for, and all that is not HTTP/2.
pub(crate) async fn guard_flight(
    State(guard): State<Arc<BrowserGuard>>,
    request: Request,
    next: Next,
) -> Response {
    if request.version() < Version::HTTP_2 {
        let told = "this is the listener of Arrow Flight: connect with gRPC, which needs HTTP/2\n";
        let mut response = (StatusCode::HTTP_VERSION_NOT_SUPPORTED, told).into_response();
        mark(&mut response);
        return response;
    }
    match guard.check_flight(request.uri(), request.headers()) {
        Ok(()) => next.run(request).await,
        Err(error) => status(&error).into_http(),
    }
}

/// An answer is of the type that it says, and no page of another origin may show it.
fn mark(response: &mut Response) {
    let headers = response.headers_mut();
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(RESOURCE_POLICY, HeaderValue::from_static("same-origin"));
}

impl BrowserGuard {
    fn check_http(&self, request: &Request) -> std::result::Result<(), Problem> {
        let (uri, headers) = (request.uri(), request.headers());
        if self.is_unix {
            return Ok(());
        }
        let host = host_of(uri, headers)?;
        if !is_visit(request) {
            self.check_origin(host.as_ref(), headers)?;
        }
        // Browsers always name a host, so a request without one comes from a program.
        match host {
            Some(host) if !self.has_users && !self.is_known(&host) => Err(unknown_host(&host)),
            _ => Ok(()),
        }
    }

    fn check_flight(&self, uri: &Uri, headers: &HeaderMap) -> Result<()> {
        match self.is_unix {
            true => Ok(()),
            // Programs may call it by any name, so one that cannot be read is as good as none.
            false => self.check_origin(host_of(uri, headers).ok().flatten().as_ref(), headers),
        }
    }

    fn check_origin(&self, host: Option<&HostName>, headers: &HeaderMap) -> Result<()> {
        for site in headers.get_all(SEC_FETCH_SITE) {
            if site != "same-origin" && site != "none" {
                return Err(foreign("a page of another site"));
            }
        }
        for text in headers.get_all(header::ORIGIN) {
            let text = text.to_str().unwrap_or_default();
            let is_own = |origin: WebOrigin| self.is_own(&origin, host);
            if !WebOrigin::parse(text).is_some_and(is_own) {
                let shown: String = text.chars().take(100).collect();
                return Err(foreign(&format!("a page of `{}`", shown.escape_debug())));
            }
        }
        Ok(())
    }

    /// Whether a page comes from the host of its request, or from a named one.
    fn is_own(&self, origin: &WebOrigin, host: Option<&HostName>) -> bool {
        // Over TLS an `http` page of the same name is another one, which anybody on its way may
        // have written.
        let may_be_here = origin.is_secure || !self.has_tls;
        host.is_some_and(|host| may_be_here && origin.is_at(host))
            || self.hosts.iter().any(|named| origin.is_at(named))
    }

    fn is_known(&self, host: &HostName) -> bool {
        host.is_fixed() || self.hosts.iter().any(|named| named.names(host))
    }
}

/// Whether a user opens the console by a link of another page. The console takes the window for
/// itself, tells nothing of the store, and no other page reads it.
fn is_visit(request: &Request) -> bool {
    let headers = request.headers();
    let path = request.uri().path();
    let is_page = path == "/" || path == "/console" || path.starts_with("/console/");
    let says = |name: &str, value: &str| headers.get(name).is_some_and(|said| said == value);
    is_page
        && request.method() == Method::GET
        && !headers.contains_key(header::ORIGIN)
        && says("sec-fetch-mode", "navigate")
        && says("sec-fetch-dest", "document")
}

/// The host that a request names: in its target, in HTTP/2's `:authority`, or in `Host`.
fn host_of(uri: &Uri, headers: &HeaderMap) -> Result<Option<HostName>> {
    let mut lines = headers.get_all(header::HOST).iter();
    let line = lines.next();
    if lines.next().is_some() {
        return Err(Error::invalid("the request has several headers `Host`: send one"));
    }
    let line = line.map(|line| line.to_str().unwrap_or("?")).filter(|line| !line.is_empty());
    let line = line.map(str::parse::<HostName>).transpose()?;
    let target = uri.authority().map(|target| target.as_str().parse::<HostName>()).transpose()?;
    match (target, line) {
        (Some(target), Some(line)) if target != line => Err(Error::invalid(format!(
            "the request goes to {target}, and its header `Host` says {line}: send one of the two"
        ))),
        (target, line) => Ok(target.or(line)),
    }
}

fn foreign(who: &str) -> Error {
    let message = format!(
        "{who} may not call this server: call it from a program. Where the page comes through a \
         proxy that changes `Host`, name the page's host in http_hosts"
    );
    Error::new(ErrorKind::Unsupported, message).with_source(AccessDenied)
}

fn unknown_host(host: &HostName) -> Problem {
    let message = format!(
        "{host} is no known name of this server, which has no users: call it by its IP address or \
         localhost, or start it with --http-hosts {host}"
    );
    Problem::new(StatusCode::MISDIRECTED_REQUEST, Error::invalid(message))
}
