//! Bucket listings: their URLs, and how their pages are parsed.

use tonnage_engine::{Error, Result};

/// How a storage lists what it holds.
#[derive(Clone, Copy)]
pub(super) enum Listing {
    S3,
    Azure,
}

/// One page of a listing.
pub(super) struct ListingPage {
    pub(super) keys: Vec<String>,
    /// What asks for the next page, if there is one.
    pub(super) next: Option<String>,
}

impl Listing {
    /// The URL of a page of what begins with a prefix.
    pub(super) fn url(self, bucket: &str, prefix: &str, next: Option<&str>) -> String {
        let value = |text: &str| encode_key(text).replace('/', "%2F");
        let (query, token) = match self {
            Self::S3 => ("/?encoding-type=url&list-type=2", "continuation-token"),
            Self::Azure => {
                ("?restype=container&comp=list&include=metadata&maxresults=1000", "marker")
            }
        };
        let next = next.map(|next| format!("&{token}={}", value(next))).unwrap_or_default();
        format!("{bucket}{query}&prefix={}{next}", value(prefix))
    }

    /// What a page says. One that was cut short would hide keys.
    pub(super) fn read(self, page: &str) -> Result<ListingPage> {
        let (root, token) = match self {
            Self::S3 => ("ListBucketResult", "NextContinuationToken"),
            Self::Azure => ("EnumerationResults", "NextMarker"),
        };
        // The scan for elements takes what it finds: only the end tag shows that nothing is
        // missing.
        if !page.trim_end().ends_with(&format!("</{root}>")) {
            return Err(Error::unavailable("the listing is cut short, or is none"));
        }
        let next = first(page, token).map(unescape_xml).filter(|next| !next.is_empty());
        Ok(match self {
            Self::S3 => {
                let is_encoded = first(page, "EncodingType").is_some_and(|kind| kind == "url");
                let read = |key: &str| if is_encoded { decode_key(key) } else { unescape_xml(key) };
                let entries = all(page, "Contents").filter_map(|entry| first(entry, "Key"));
                let is_more = first(page, "IsTruncated") == Some("true");
                // Ending here would hide the keys that follow.
                if is_more && next.is_none() {
                    return Err(Error::unavailable("the listing goes on, but does not say where"));
                }
                let next = next.filter(|_| is_more);
                ListingPage { keys: entries.map(read).collect(), next }
            }
            Self::Azure => {
                let files = all(page, "Blob").filter(|entry| !is_directory(entry));
                ListingPage { keys: files.filter_map(blob_name).collect(), next }
            }
        })
    }
}

/// Accounts with real directories list these, too.
fn is_directory(blob: &str) -> bool {
    first(blob, "ResourceType") == Some("directory") || first(blob, "hdi_isfolder") == Some("true")
}

/// Names with characters that XML cannot have are encoded.
fn blob_name(blob: &str) -> Option<String> {
    let encoded = || {
        let (_, behind) = blob.split_once("<Name Encoded=\"true\">")?;
        behind
            .split_once("</Name>")
            .map(|(name, _)| crate::percent::decode_percent(&unescape_xml(name)))
    };
    encoded().or_else(|| first(blob, "Name").map(unescape_xml))
}

/// A key, encoded for a URL.
pub(super) fn encode_key(key: &str) -> String {
    let mut text = String::with_capacity(key.len());
    for byte in key.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                text.push(char::from(byte));
            }
            byte => text.push_str(&format!("%{byte:02X}")),
        }
    }
    text
}

/// Decodes such a key; a plus means a blank.
fn decode_key(text: &str) -> String {
    crate::percent::decode_percent(&text.replace('+', " "))
}

/// The content of the first element of a name.
pub(super) fn first<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    all(text, name).next()
}

/// The contents of the elements of a name. Listings nest no element in one of the same name.
fn all<'a>(text: &'a str, name: &str) -> impl Iterator<Item = &'a str> + use<'a> {
    let (begin, end) = (format!("<{name}>"), format!("</{name}>"));
    let mut rest = text;
    std::iter::from_fn(move || {
        let (_, behind) = rest.split_once(&begin)?;
        let (content, behind) = behind.split_once(&end)?;
        rest = behind;
        Some(content)
    })
}

fn unescape_xml(text: &str) -> String {
    let mut plain = text.to_owned();
    for (code, character) in [
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&#34;", "\""),
        ("&apos;", "'"),
        ("&#39;", "'"),
        ("&amp;", "&"),
    ] {
        plain = plain.replace(code, character);
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_of_s3_are_read() {
        let page = "<ListBucketResult><IsTruncated>false</IsTruncated><Contents><Key>a&amp;b</Key></Contents><Contents><Key>c</Key></Contents></ListBucketResult>\n";
        let read = Listing::S3.read(page).unwrap();
        assert_eq!((read.keys, read.next), (vec!["a&b".to_owned(), "c".to_owned()], None));
        assert_eq!(decode_key("a+b%2Bc"), "a b+c");
    }

    #[test]
    fn pages_of_azure_are_read_without_directories() {
        let blob = |inner: &str| format!("<Blob>{inner}</Blob>");
        let page = format!(
            "\u{feff}<?xml version=\"1.0\"?><EnumerationResults><Blobs>{}{}{}{}</Blobs><NextMarker>2!a&amp;b/</NextMarker></EnumerationResults>",
            blob(
                "<Name>day/a+b&amp;c.csv</Name><Properties><ResourceType>file</ResourceType></Properties>"
            ),
            blob(
                "<Name>day/deep</Name><Properties><ResourceType>directory</ResourceType></Properties>"
            ),
            blob("<Name>day/old</Name><Metadata><hdi_isfolder>true</hdi_isfolder></Metadata>"),
            blob(
                "<Name Encoded=\"true\">day/%EF%BF%BE%25.csv</Name><Metadata><Name>x</Name></Metadata>"
            ),
        );
        let read = Listing::Azure.read(&page).unwrap();
        assert_eq!(read.keys, ["day/a+b&c.csv", "day/\u{fffe}%.csv"]);
        let next = Listing::Azure.url("https://h/c", "day/", read.next.as_deref());
        assert!(next.starts_with("https://h/c?restype=container&comp=list&"), "{next}");
        assert!(next.ends_with("&prefix=day%2F&marker=2%21a%26b%2F"), "{next}");
        let last = "<EnumerationResults><Blobs /><NextMarker /></EnumerationResults>";
        assert!(Listing::Azure.read(last).unwrap().next.is_none());
    }

    /// A proxy that lost its server ended a page early, in good order. The later keys were missing,
    /// and a load of all files left some out without a word.
    #[test]
    fn a_page_that_is_cut_short_is_no_page() {
        let page = "<ListBucketResult><IsTruncated>true</IsTruncated><Contents><Key>a</Key></Contents><Conte";
        assert!(Listing::S3.read(page).is_err());
        let page = "<EnumerationResults><Blobs><Blob><Name>a</Name></Blob>";
        assert!(Listing::Azure.read(page).is_err());
        let page = "<ListBucketResult><IsTruncated>true</IsTruncated></ListBucketResult>";
        assert!(Listing::S3.read(page).is_err());
    }
}
