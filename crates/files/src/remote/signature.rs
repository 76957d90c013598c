//! Signs requests for S3: version 4, in the headers.

use std::fmt::Write;

use arrow::datatypes::TimeUnit;
use ring::{digest, hmac};

use crate::text::timestamp;

/// The digest of a body that is empty.
const EMPTY_BODY: &str = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
const METHOD: &str = "GET";

/// Signs requests with a secret.
pub(super) struct Signer {
    pub(super) key_id: String,
    pub(super) secret: String,
    pub(super) session_token: Option<String>,
    pub(super) region: String,
}

impl Signer {
    /// The headers that sign a request for a URL at a timestamp.
    pub(super) fn headers(&self, url: &str, now_seconds: i64) -> Vec<(&'static str, String)> {
        let mut now = Vec::new();
        timestamp::write(&mut now, now_seconds, TimeUnit::Second);
        let now: String =
            now.iter().filter(|byte| !b"-:".contains(byte)).map(|byte| char::from(*byte)).collect();
        self.headers_at(url, &format!("{now}Z"))
    }

    fn headers_at(&self, url: &str, now: &str) -> Vec<(&'static str, String)> {
        let (_, rest) = url.split_once("://").unwrap_or(("", url));
        let (host, path) = rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len()));
        let (path, query) = path.split_once('?').unwrap_or((path, ""));
        let mut query: Vec<&str> = query.split('&').filter(|pair| !pair.is_empty()).collect();
        // The server sorts them before it checks: signed in another order they would be refused.
        query.sort_unstable();
        // In the order of the alphabet, as signatures want them: a new header is inserted in order.
        let mut signed = vec![
            ("host", host.to_owned()),
            ("x-amz-content-sha256", EMPTY_BODY.to_owned()),
            ("x-amz-date", now.to_owned()),
        ];
        signed.extend(self.session_token.clone().map(|token| ("x-amz-security-token", token)));
        let names: Vec<_> = signed.iter().map(|(name, _)| *name).collect();
        let names = names.join(";");
        let lines: String =
            signed.iter().map(|(name, value)| format!("{name}:{value}\n")).collect();
        let path = if path.is_empty() { "/" } else { path };
        let asked =
            format!("{METHOD}\n{path}\n{}\n{lines}\n{names}\n{EMPTY_BODY}", query.join("&"));
        let day = &now[..now.len().min(8)];
        let scope = format!("{day}/{}/s3/aws4_request", self.region);
        let digest = hex(digest::digest(&digest::SHA256, asked.as_bytes()).as_ref());
        let text = format!("AWS4-HMAC-SHA256\n{now}\n{scope}\n{digest}");
        let mut key = format!("AWS4{}", self.secret).into_bytes();
        for part in [day, &self.region, "s3", "aws4_request"] {
            key = hmac_sha256(&key, part);
        }
        let signature = hex(&hmac_sha256(&key, &text));
        let authorization = format!(
            "AWS4-HMAC-SHA256 Credential={}/{scope},SignedHeaders={names},Signature={signature}",
            self.key_id
        );
        // Every request names the host.
        signed.remove(0);
        signed.push(("authorization", authorization));
        signed
    }
}

fn hmac_sha256(key: &[u8], text: &str) -> Vec<u8> {
    hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, key), text.as_bytes()).as_ref().to_vec()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The listing among the examples that the documentation of S3 signs.
    #[test]
    fn a_request_is_signed_as_documented() {
        let signer = Signer {
            key_id: "AKIAIOSFODNN7EXAMPLE".into(),
            secret: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY".into(),
            session_token: None,
            region: "us-east-1".into(),
        };
        let url = "https://examplebucket.s3.amazonaws.com/?max-keys=2&prefix=J";
        let headers = signer.headers_at(url, "20130524T000000Z");
        let (_, authorization) = headers.last().unwrap();
        assert!(
            authorization.ends_with(
                "Signature=34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"
            ),
            "{authorization}"
        );
    }
}
