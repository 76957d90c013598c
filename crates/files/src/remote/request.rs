//! Sends requests, retries where that may help, and explains refusals in plain words.

use std::error::Error;
use std::fmt;
use std::io::{self, Read};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use ureq::http::{Response, StatusCode, Uri};
use ureq::tls::{Certificate, RootCerts, TlsConfig};
use ureq::{Agent, Body, ResponseExt};

use super::file::RemoteFile;
use super::listing::first;
use crate::stop_token::StopToken;

/// How many requests in a row may bring nothing.
pub(super) const TRIES_MAX: u32 = 6;
/// How long the second try waits; each further one twice as long as that before it.
const WAIT_FIRST: Duration = Duration::from_millis(100);
const CONNECT_MAX: Duration = Duration::from_secs(30);
/// The longest silence of a server.
const SILENCE_MAX: Duration = Duration::from_secs(60);
/// How often a wait looks whether to stop.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// The most that is read of a refusal.
const CODE_BYTES_MAX: u64 = 64 << 10;
const UNREADABLE: &str = "it wants other credentials, or none may read this";

/// Why a server gives no content.
#[derive(Debug)]
struct Refusal {
    status: StatusCode,
    text: String,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Error for Refusal {}

/// The status that a server refuses with; none for other errors.
pub(super) fn refused_status(error: &io::Error) -> Option<StatusCode> {
    let refusal = error.get_ref()?.downcast_ref::<Refusal>()?;
    Some(refusal.status)
}

/// A request for a file, from a byte on.
pub(super) struct RemoteRequest<'a> {
    pub(super) file: &'a RemoteFile,
    pub(super) headers: Vec<(&'static str, String)>,
}

impl RemoteRequest<'_> {
    /// Asks until there is an answer that is no passing trouble. `tries` counts the failures in a
    /// row, those of others before included.
    pub(super) fn send_with_retries(
        &self,
        stop: &StopToken,
        tries: &mut u32,
    ) -> io::Result<Response<Body>> {
        loop {
            let failure = match self.send() {
                Ok(response) if !is_passing(response.status()) => {
                    return self.require_content(response);
                }
                Ok(response) => self.refusal(response),
                Err(error) if is_lasting(&error) => return Err(to_io_error(error)),
                Err(error) => to_io_error(error),
            };
            *tries += 1;
            if *tries >= TRIES_MAX {
                return Err(failure);
            }
            pause(*tries, stop)?;
        }
    }

    fn send(&self) -> Result<Response<Body>, ureq::Error> {
        let url = &self.file.url;
        let mut request = agent().map_err(ureq::Error::Io)?.get(url);
        for (name, value) in &self.headers {
            request = request.header(*name, value);
        }
        let access = self.file.access.as_ref();
        let shown = access.map(|access| access.headers(url, &self.headers)).unwrap_or_default();
        if shown.is_empty() {
            return checked(url, request.call()?);
        }
        for (name, value) in shown {
            request = request.header(name, value);
        }
        // What is signed for one place is for no other.
        request.config().max_redirects(0).build().call()
    }

    /// An answer with content, or why there is none.
    fn require_content(&self, response: Response<Body>) -> io::Result<Response<Body>> {
        let is_folder = |name: &str, value: &str| {
            response.headers().get(name).is_some_and(|found| found.as_bytes() == value.as_bytes())
        };
        match response.status() {
            StatusCode::OK if is_folder("x-ms-meta-hdi_isfolder", "true") => Err(io::Error::new(
                io::ErrorKind::IsADirectory,
                "it is a folder; name its files, for instance with /* after it",
            )),
            StatusCode::OK | StatusCode::PARTIAL_CONTENT => Ok(response),
            _ => Err(self.refusal(response)),
        }
    }

    fn refusal(&self, response: Response<Body>) -> io::Error {
        let status = response.status();
        let region = response.headers().get("x-amz-bucket-region");
        let region = region.and_then(|region| region.to_str().ok()).map(str::to_owned);
        // Only a storage names its refusals: the page of another server is not even read.
        let code = match &self.file.access {
            Some(_) => code(response).filter(|code| !code.is_empty()),
            None => None,
        };
        let remedy = self.file.access.as_ref().map(|access| access.remedy.clone());
        let (kind, hint) = match status {
            // A missing right is reported even for files that exist.
            StatusCode::NOT_FOUND if code.as_deref() == Some("ResourceNotFound") => {
                (io::ErrorKind::NotFound, remedy)
            }
            StatusCode::NOT_FOUND | StatusCode::GONE => (io::ErrorKind::NotFound, None),
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => {
                let remedy = remedy.unwrap_or_else(|| UNREADABLE.to_owned());
                (io::ErrorKind::PermissionDenied, Some(remedy))
            }
            StatusCode::CONFLICT if code.as_deref() == Some("PublicAccessNotPermitted") => {
                (io::ErrorKind::PermissionDenied, remedy)
            }
            status if status.is_redirection() => (
                io::ErrorKind::Unsupported,
                Some(match region {
                    Some(region) => format!("it is in the region {region}: set AWS_REGION to it"),
                    None => "it is elsewhere, perhaps in another region".to_owned(),
                }),
            ),
            status if status.is_client_error() => (io::ErrorKind::Unsupported, None),
            _ => (io::ErrorKind::Other, None),
        };
        let code = code.map(|code| format!(" ({code})")).unwrap_or_default();
        let hint = hint.map(|hint| format!(": {hint}")).unwrap_or_default();
        let text = format!("the server answers {status}{code}{hint}");
        io::Error::new(kind, Refusal { status, text })
    }
}

/// Refuses an answer that came over a way that can be listened to, where another was asked for.
fn checked(url: &str, response: Response<Body>) -> Result<Response<Body>, ureq::Error> {
    let was_safe = url.get(..6).is_some_and(|scheme| scheme.eq_ignore_ascii_case("https:"));
    match was_safe && response.get_uri().scheme_str() != Some("https") {
        true => Err(ureq::Error::RequireHttpsOnly(host(response.get_uri()))),
        false => Ok(response),
    }
}

fn host(uri: &Uri) -> String {
    uri.host().unwrap_or_default().to_owned()
}

/// Waits before a try.
pub(super) fn pause(tries: u32, stop: &StopToken) -> io::Result<()> {
    let mut left = WAIT_FIRST * 2_u32.saturating_pow(tries.saturating_sub(1)).min(64);
    while !left.is_zero() {
        if stop.is_asked() {
            return Err(io::Error::other("the wait for more was stopped"));
        }
        let part = left.min(LOOK_EVERY);
        std::thread::sleep(part);
        left -= part;
    }
    Ok(())
}

/// What all requests share: connections, and whom to trust.
fn agent() -> io::Result<&'static Agent> {
    static AGENT: OnceLock<Agent> = OnceLock::new();
    if let Some(agent) = AGENT.get() {
        return Ok(agent);
    }
    let found = rustls_native_certs::load_native_certs();
    let roots: Vec<_> =
        found.certs.iter().map(|root| Certificate::from_der(root).to_owned()).collect();
    let tls = TlsConfig::builder()
        .root_certs(RootCerts::new_with_certs(&roots))
        .unversioned_rustls_crypto_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .build();
    let agent = Agent::config_builder()
        .http_status_as_error(false)
        .timeout_connect(Some(CONNECT_MAX))
        .timeout_recv_response(Some(SILENCE_MAX))
        .timeout_per_read(Some(SILENCE_MAX))
        .user_agent(concat!("tonnage/", env!("CARGO_PKG_VERSION")))
        // Files are wanted as they are; compression is recognised by the bytes.
        .accept_encoding("identity")
        .accept("*/*")
        .tls_config(tls)
        .build();
    Ok(AGENT.get_or_init(|| agent.new_agent()))
}

/// What a storage calls its refusal: `AuthenticationFailed`.
fn code(response: Response<Body>) -> Option<String> {
    if let Some(code) = response.headers().get("x-ms-error-code") {
        return code.to_str().ok().map(str::to_owned);
    }
    let mut body = Vec::new();
    let reader = response.into_body().into_reader();
    // Without the body there is no code.
    let _ = reader.take(CODE_BYTES_MAX).read_to_end(&mut body);
    first(&String::from_utf8_lossy(&body), "Code").map(str::to_owned)
}

/// Whether the same request may succeed shortly after.
fn is_passing(status: StatusCode) -> bool {
    matches!(status.as_u16(), 408 | 429 | 500 | 502 | 503 | 504)
}

/// Whether it will not.
fn is_lasting(error: &ureq::Error) -> bool {
    !matches!(
        error,
        ureq::Error::Io(_)
            | ureq::Error::Timeout(_)
            | ureq::Error::ConnectionFailed
            | ureq::Error::Protocol(_)
    ) || matches!(error, ureq::Error::Io(error) if error.kind() == io::ErrorKind::InvalidData)
}

/// An error of the way to the server.
pub(super) fn to_io_error(error: ureq::Error) -> io::Error {
    let (kind, text) = match error {
        // Untrusted certificates come so.
        ureq::Error::Io(error) if error.kind() != io::ErrorKind::InvalidData => return error,
        ureq::Error::Io(error) => (io::ErrorKind::Unsupported, error.to_string()),
        ureq::Error::HostNotFound => (io::ErrorKind::NotFound, "there is no such host".to_owned()),
        ureq::Error::Timeout(timeout) => {
            (io::ErrorKind::TimedOut, format!("the server is silent ({timeout})"))
        }
        ureq::Error::RequireHttpsOnly(host) => (
            io::ErrorKind::Unsupported,
            format!("the server leads from https to plain http at {host}, which is not followed"),
        ),
        ureq::Error::TooManyRedirects => {
            (io::ErrorKind::Unsupported, "the server leads around in a circle".to_owned())
        }
        ureq::Error::BadUri(_) | ureq::Error::Http(_) => {
            (io::ErrorKind::Unsupported, "it is not a URL".to_owned())
        }
        error => (io::ErrorKind::Other, error.to_string()),
    };
    io::Error::new(kind, text)
}
