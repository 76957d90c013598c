//! Blobs of Azure, served on this machine.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use crate::web::{Answer, Headers, csv, run_with, server, with_table};

/// How much of a blob is sent before the connection breaks.
const PIECE: usize = 4_000;

/// Answers as the container `c` of the account `dev` does: two blobs on a page of its listing, the
/// third page empty, and blobs in pieces.
fn container(blobs: &[(&str, Vec<u8>)], path: &str, headers: &Headers) -> Answer {
    let refused = |code: &str| {
        ("403 Forbidden", format!("x-ms-error-code: {code}\r\n"), b"<Error/>".to_vec())
    };
    if !headers.contains_key("x-ms-version") {
        return refused("MissingRequiredHeader");
    }
    let authorization = headers.get("authorization").map(String::as_str);
    let is_signed = authorization.is_some_and(|text| text.starts_with("SharedKey dev:"))
        && headers.contains_key("x-ms-date");
    let (path, query) = path.split_once('?').unwrap_or((path, ""));
    let query: HashMap<_, _> = query.split('&').filter_map(|pair| pair.split_once('=')).collect();
    let has_token = query.get("sig") == Some(&"a%2Bb");
    if !is_signed && !has_token {
        return refused("AuthenticationFailed");
    }
    if query.get("comp") == Some(&"list") {
        assert_eq!((path, query["restype"]), ("/dev/c", "container"));
        return ("200 OK", String::new(), listing(blobs, &query).into_bytes());
    }
    let name = path.strip_prefix("/dev/c/").unwrap_or_default().replace("%20", " ");
    let Some((_, body)) = blobs.iter().find(|(found, _)| *found == name) else {
        let code = "x-ms-error-code: BlobNotFound\r\n".to_owned();
        return ("404 The specified blob does not exist.", code, Vec::new());
    };
    if name == "day/deep" {
        return ("200 OK", "x-ms-meta-hdi_isfolder: true\r\n".to_owned(), Vec::new());
    }
    let range = headers.get("range").and_then(|range| range.strip_prefix("bytes="));
    let from = range.and_then(|range| range.trim_end_matches('-').parse().ok()).unwrap_or(0);
    let (rest, bytes) = (&body[from..], body.len());
    let marked = format!("ETag: \"0x8D\"\r\nContent-Length: {}\r\n", rest.len());
    let piece = rest[..rest.len().min(PIECE)].to_vec();
    match from {
        0 => ("200 OK", marked, piece),
        _ => {
            let range = format!("{marked}Content-Range: bytes {from}-{}/{bytes}\r\n", bytes - 1);
            ("206 Partial Content", range, piece)
        }
    }
}

fn listing(blobs: &[(&str, Vec<u8>)], query: &HashMap<&str, &str>) -> String {
    let prefix = query["prefix"].replace("%2F", "/");
    let found: Vec<_> = blobs.iter().filter(|(name, _)| name.starts_with(&prefix)).collect();
    let first = query.get("marker").map_or(0, |marker| marker.parse::<usize>().unwrap());
    let blobs = found.iter().skip(first).take(2).map(|(name, _)| {
        let kind = if *name == "day/deep" { "directory" } else { "file" };
        let kind = format!("<Properties><ResourceType>{kind}</ResourceType></Properties>");
        format!("<Blob><Name>{name}</Name>{kind}</Blob>")
    });
    let blobs: String = blobs.collect();
    let next = match first < found.len() {
        true => format!("<NextMarker>{}</NextMarker>", first + 2),
        false => "<NextMarker />".to_owned(),
    };
    format!("\u{feff}<EnumerationResults><Blobs>{blobs}</Blobs>{next}</EnumerationResults>")
}

#[test]
fn blobs_of_a_container_are_loaded() {
    let blobs = vec![
        ("day/a 1.csv", csv(0, 1_000)),
        ("day/b.csv", csv(1_000, 10)),
        ("day/c.csv", csv(2_000, 10)),
        ("day/c.txt", b"no".to_vec()),
        ("day/deep", Vec::new()),
        ("day/deep/d.csv", csv(3_000, 10)),
    ];
    let asked = Arc::new(Mutex::new(Vec::new()));
    let noted = asked.clone();
    let address = server(move |path, headers| {
        noted.lock().unwrap().push(format!("{path} {:?}", headers.get("range")));
        container(&blobs, path, headers)
    });
    let connection = |credentials: &str| {
        format!("AccountName=dev;{credentials};BlobEndpoint=http://{address}/dev/;")
    };
    let place = with_table();
    let load = |what: &str, credentials: &str| {
        let connection = connection(credentials);
        let variables = [("AZURE_STORAGE_CONNECTION_STRING", connection.as_str())];
        run_with(&place, &["load", "t", what, "--summary", "s.json"], &variables)
    };
    let key = "AccountKey=a2V5";
    load("az://c/day/*.csv", key).ends(0).says(&["1,020 read, 1,020 inserted"]);
    assert_eq!(place.json("s.json")["files"][0]["file"], "az://c/day/a 1.csv");
    let resumed = "day/a%201.csv Some(\"bytes=4000-\")";
    assert!(asked.lock().unwrap().iter().any(|asked| asked.ends_with(resumed)));
    load("abfss://c@dev.dfs.core.windows.net/day/**/d.csv", key).ends(0).says(&["10 inserted"]);
    let token = "SharedAccessSignature=?sv=2021&sig=a%2Bb";
    load("az://c/day/[bc].csv", token).ends(0).says(&["20 read", "0 failed"]);
    // A star takes no folder for a file, and a folder is not an empty file.
    load("az://c/day/*", key).ends(3).says(&["c.txt"]);
    load("az://c/day/deep", key).ends(3).says(&["az://c/day/deep", "is a folder"]);
    load("az://c/day/", key).ends(3).says(&["is a folder", "az://c/day/*"]);
    load("az://c/none.csv", key).ends(3).says(&["az://c/none.csv", "404", "BlobNotFound"]);
    load("az://c/day/*.parquet", key).ends(3).says(&["no object matches"]);
    load("az://c/day/*.csv", "AccountKey=!").ends(3).says(&["AccountKey", "not base64"]);
    let refused = load("az://c/day/*.csv", "SharedAccessSignature=sig=x").ends(3);
    let refused = refused.says(&["the bucket c cannot be listed", "AuthenticationFailed", "SAS"]);
    assert!(!refused.err.contains("sig="), "{}", refused.err);
    load("az://c/day/b.csv", "X=y").ends(3).says(&["az://c/day/b.csv", "AZURE_STORAGE_KEY"]);
    assert_eq!(place.run(&["count", "t"]).out, "1030\n");
    let nowhere = run_with(&place, &["load", "t", "az://c/a.csv"], &[]);
    nowhere.ends(3).says(&["az://c/a.csv", "set AZURE_STORAGE_ACCOUNT"]);
}
