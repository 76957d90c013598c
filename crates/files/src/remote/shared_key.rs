//! Signs requests for Azure: Shared Key.

use arrow::datatypes::TimeUnit;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ring::hmac;

use crate::percent;
use crate::text::timestamp;

/// The name of a header, and its value.
pub(super) type HttpHeader = (&'static str, String);

/// The version of Azure's protocol that is spoken. Without one Azure takes that of 2009.
const VERSION: &str = "2021-12-02";
const WEEKDAYS: [&str; 7] = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"];
const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// Headers of requests that Azure's signature covers, in its order. All others are empty here.
const SIGNED: [&str; 11] = [
    "content-encoding",
    "content-language",
    "content-length",
    "content-md5",
    "content-type",
    "date",
    "if-modified-since",
    "if-match",
    "if-none-match",
    "if-unmodified-since",
    "range",
];

/// Signs requests with the key of an account.
pub(super) struct SharedKey {
    pub(super) account: String,
    /// Without one, requests only say which protocol they speak.
    pub(super) key: Option<Vec<u8>>,
}

impl SharedKey {
    /// The headers of a request for a URL at a timestamp, beside those that are given.
    pub(super) fn headers(
        &self,
        url: &str,
        given: &[HttpHeader],
        now_seconds: i64,
    ) -> Vec<HttpHeader> {
        let version = ("x-ms-version", VERSION.to_owned());
        let Some(key) = &self.key else { return vec![version] };
        let own = vec![("x-ms-date", http_date(now_seconds)), version];
        let text = self.text(url, given, &own);
        let key = hmac::Key::new(hmac::HMAC_SHA256, key);
        let signature = STANDARD.encode(hmac::sign(&key, text.as_bytes()));
        let authorization = format!("SharedKey {}:{signature}", self.account);
        own.into_iter().chain([("authorization", authorization)]).collect()
    }

    /// What is signed.
    fn text(&self, url: &str, given: &[HttpHeader], own: &[HttpHeader]) -> String {
        let mut text = "GET\n".to_owned();
        for signed in SIGNED {
            let header = given.iter().find(|(name, _)| name.eq_ignore_ascii_case(signed));
            text.push_str(header.map_or("", |(_, value)| value));
            text.push('\n');
        }
        // They are sorted by their names.
        for (name, value) in own {
            text.push_str(&format!("{name}:{value}\n"));
        }
        let (_, rest) = url.split_once("://").unwrap_or(("", url));
        let (_, path) = rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len()));
        let (path, query) = path.split_once('?').unwrap_or((path, ""));
        text.push_str(&format!("/{}{}", self.account, if path.is_empty() { "/" } else { path }));
        let pairs = query.split('&').filter_map(|pair| pair.split_once('='));
        let mut pairs: Vec<_> = pairs
            .map(|(name, value)| (name.to_ascii_lowercase(), percent::decode_percent(value)))
            .collect();
        pairs.sort_unstable();
        for (name, value) in pairs {
            text.push_str(&format!("\n{name}:{value}"));
        }
        text
    }
}

/// A timestamp as HTTP writes it: `Fri, 26 Jun 2015 23:39:12 GMT`.
fn http_date(seconds: i64) -> String {
    let mut text = Vec::new();
    timestamp::write(&mut text, seconds, TimeUnit::Second);
    // All of it is ASCII: 2015-06-26T23:39:12.
    let text = String::from_utf8_lossy(&text);
    let weekday = (seconds.div_euclid(timestamp::DAY_SECONDS) + 4).rem_euclid(7) as usize;
    let month = text[5..7].parse::<usize>().map_or("", |month| MONTHS[month - 1]);
    format!("{}, {} {month} {} {} GMT", WEEKDAYS[weekday], &text[8..10], &text[..4], &text[11..])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key_of(account: &str, key: &str) -> SharedKey {
        SharedKey { account: account.into(), key: Some(STANDARD.decode(key).unwrap()) }
    }

    /// The example of the documentation of Azure, "Authorize with Shared Key".
    #[test]
    fn a_request_becomes_the_text_that_is_documented() {
        let key = key_of("myaccount", "a2V5");
        let url = "https://myaccount.blob.core.windows.net/mycontainer?restype=container&comp=metadata&timeout=20";
        let own = vec![
            ("x-ms-date", http_date(1_435_361_952)),
            ("x-ms-version", "2015-02-21".to_owned()),
        ];
        assert_eq!(
            key.text(url, &[], &own),
            "GET\n\n\n\n\n\n\n\n\n\n\n\nx-ms-date:Fri, 26 Jun 2015 23:39:12 GMT\nx-ms-version:2015-02-21\n/myaccount/mycontainer\ncomp:metadata\nrestype:container\ntimeout:20"
        );
    }

    /// Another implementation of HMAC says the same of the same text.
    #[test]
    fn a_range_and_a_path_with_the_account_are_signed() {
        let key = key_of(
            "devstoreaccount1",
            "YSBrZXkgb2Ygc2l4dHktZm91ciBieXRlcyB3b3VsZCBiZSB1c3VhbCwgdGhpcyBvbmUgaXMgc2hvcnRlcg==",
        );
        let url = "http://127.0.0.1:10000/devstoreaccount1/c/a%20b.csv?prefix=x%2Fy&Comp=list";
        let range = vec![("Range", "bytes=5-".to_owned()), ("If-Range", "\"1\"".to_owned())];
        let headers = key.headers(url, &range, 1_435_361_952);
        assert_eq!(
            key.text(url, &range, &headers[..2]),
            "GET\n\n\n\n\n\n\n\n\n\n\nbytes=5-\nx-ms-date:Fri, 26 Jun 2015 23:39:12 GMT\nx-ms-version:2021-12-02\n/devstoreaccount1/devstoreaccount1/c/a%20b.csv\ncomp:list\nprefix:x/y"
        );
        assert_eq!(
            headers[2],
            (
                "authorization",
                "SharedKey devstoreaccount1:60ip78nmyUSeEXx0ZhByKPU2perXf5dEzWH2EnmPa5M=".into()
            )
        );
    }

    #[test]
    fn moments_are_written_as_http_does() {
        for (seconds, text) in [
            (0, "Thu, 01 Jan 1970 00:00:00 GMT"),
            (784_111_777, "Sun, 06 Nov 1994 08:49:37 GMT"),
            (1_709_208_000, "Thu, 29 Feb 2024 12:00:00 GMT"),
        ] {
            assert_eq!(http_date(seconds), text);
        }
    }

    #[test]
    fn without_a_key_only_the_version_is_told() {
        let none = SharedKey { account: "a".into(), key: None };
        assert_eq!(none.headers("https://h/c", &[], 0), [("x-ms-version", VERSION.into())]);
    }
}
