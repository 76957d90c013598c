//! The cookie that a browser logs in with: a token, out of the reach of scripts.

use axum::http::{HeaderMap, header};

/// The name of the cookie.
const NAME: &str = "tonnage_session";
/// Only pages of this server send it, and no script reads it.
const LIMITS: &str = "; Path=/; HttpOnly; SameSite=Strict";

/// The token that a request's cookies hold.
pub(crate) fn token_of(headers: &HeaderMap) -> Option<&str> {
    let lines = headers.get_all(header::COOKIE).iter().filter_map(|line| line.to_str().ok());
    lines.flat_map(|line| line.split(';')).find_map(|cookie| {
        let (name, value) = cookie.trim().split_once('=')?;
        (name == NAME && !value.is_empty()).then_some(value)
    })
}

/// The header that makes a browser keep a token until it ends.
pub(crate) fn keep(token: &str, has_tls: bool) -> String {
    format!("{NAME}={token}{LIMITS}{}", secure(has_tls))
}

/// The header that makes a browser forget it.
pub(crate) fn forget(has_tls: bool) -> String {
    format!("{NAME}={LIMITS}; Max-Age=0{}", secure(has_tls))
}

fn secure(has_tls: bool) -> &'static str {
    if has_tls { "; Secure" } else { "" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_token_is_found_among_other_cookies() {
        let mut headers = HeaderMap::new();
        headers.append(header::COOKIE, "a=b; tonnage_session_=x".parse().unwrap());
        assert_eq!(token_of(&headers), None);
        headers.append(header::COOKIE, "c=d; tonnage_session=t1".parse().unwrap());
        assert_eq!(token_of(&headers), Some("t1"));
    }

    #[test]
    fn only_tls_makes_it_secure() {
        assert!(keep("t", true).ends_with("; Secure") && forget(true).ends_with("; Secure"));
        assert!(!keep("t", false).contains("Secure"));
    }
}
