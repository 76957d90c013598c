//! Files of web servers and of object storage, served on this machine.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};

use crate::common::{Place, Run, finished};

/// A certificate for localhost.
const CERTIFICATE: &str = "../server/tests/listeners/tls/cert.pem";
const KEY: &str = "../server/tests/listeners/tls/key.pem";

/// The user who runs the tests may have profiles.
const NO_PROFILES: [(&str, &str); 2] =
    [("AWS_SHARED_CREDENTIALS_FILE", "/dev/null"), ("AWS_CONFIG_FILE", "/dev/null")];

pub(crate) type Headers = HashMap<String, String>;
/// Status, further headers, body. Who tells a `Content-Length` of its own sends less than it says.
pub(crate) type Answer = (&'static str, String, Vec<u8>);

/// Answers one request.
fn serve(stream: &mut (impl Read + Write), answer: impl Fn(&str, &Headers) -> Answer) {
    let mut lines = BufReader::new(&mut *stream).lines();
    let Some(Ok(first)) = lines.next() else { return };
    let path = first.split(' ').nth(1).unwrap_or_default().to_owned();
    let lines = lines.map_while(|line| line.ok().filter(|line| !line.is_empty()));
    let headers = lines.filter_map(|line| {
        let (name, value) = line.split_once(':')?;
        Some((name.to_ascii_lowercase(), value.trim().to_owned()))
    });
    let headers = headers.collect();
    let (status, more, body) = answer(&path, &headers);
    let length = match more.contains("Content-Length") {
        true => String::new(),
        false => format!("Content-Length: {}\r\n", body.len()),
    };
    let head = format!("HTTP/1.1 {status}\r\n{length}Connection: close\r\n{more}\r\n");
    // A reader that has seen enough closes the connection.
    let _ = stream.write_all(head.as_bytes());
    let _ = stream.write_all(&body);
    let _ = stream.flush();
}

/// A server on this machine; the answer is where.
pub(crate) fn server(answer: impl Fn(&str, &Headers) -> Answer + Send + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().map_while(Result::ok) {
            serve(&mut stream, &answer);
        }
    });
    address.to_string()
}

/// The same with TLS.
fn safe_server(answer: impl Fn(&str, &Headers) -> Answer + Send + 'static) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let certificate = CertificateDer::from_pem_file(CERTIFICATE).unwrap();
    let key = PrivateKeyDer::from_pem_file(KEY).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider);
    let config = config.with_safe_default_protocol_versions().unwrap().with_no_client_auth();
    let config = Arc::new(config.with_single_cert(vec![certificate], key).unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let connection = ServerConnection::new(config.clone()).unwrap();
            let mut stream = StreamOwned::new(connection, stream);
            serve(&mut stream, &answer);
            stream.conn.send_close_notify();
            let _ = stream.flush();
        }
    });
    port
}

pub(crate) fn csv(first: usize, rows: usize) -> Vec<u8> {
    let rows: String = (first..first + rows).map(|id| format!("{id},name {id}\n")).collect();
    format!("id,v\n{rows}").into_bytes()
}

pub(crate) fn with_table() -> Place {
    let place = Place::new();
    place.run(&["sql", "CREATE TABLE t (id LONG, v STRING, PRIMARY KEY (id))"]).ends(0);
    place
}

pub(crate) fn run_with(place: &Place, arguments: &[&str], variables: &[(&str, &str)]) -> Run {
    let mut command = place.command(arguments);
    command.envs(variables.iter().copied());
    finished(command.output().unwrap())
}

#[test]
fn a_file_of_a_web_server_is_loaded() {
    let address = server(|path, _| match path {
        "/data/a.csv?sig=secret" => ("200 OK", String::new(), csv(0, 20_000)),
        _ => ("404 Not Found", String::new(), b"<html>".to_vec()),
    });
    let place = with_table();
    let url = format!("http://user:word@{address}/data/a.csv?sig=secret");
    let run = place.run(&["load", "t", &url, "--rejects", "bad", "--summary", "s.json"]);
    run.ends(0).says(&["20,000 read, 20,000 inserted"]);
    assert_eq!(place.json("s.json")["files"][0]["file"], format!("http://{address}/data/a.csv"));
    let create = ["load", "--create", "--primary-key", "id", "u", &url];
    place.run(&create).ends(0).says(&["20,000 inserted"]);
    place.run(&["load", "t", &format!("http://{address}/b.csv")]).ends(3).says(&["b.csv", "404"]);
    place.run(&["load", "t", &url, "--resume", "notes"]).ends(3).says(&["--resume"]);
    let from = format!("SELECT count(*) AS n FROM '{url}'");
    assert_eq!(place.run(&["sql", &from]).ends(0).out, "n\n20000\n");
}

#[test]
fn certificates_are_checked() {
    let answer = |_: &str, _: &Headers| ("200 OK", String::new(), csv(0, 500));
    let url = format!("https://localhost:{}/a.csv", safe_server(answer));
    let place = with_table();
    let run = run_with(&place, &["load", "t", &url], &[("SSL_CERT_FILE", "/dev/null")]);
    run.ends(3).says(&["localhost", "certificate"]);
    let trusted = std::path::absolute(CERTIFICATE).unwrap();
    let trusted = [("SSL_CERT_FILE", trusted.to_str().unwrap())];
    run_with(&place, &["load", "t", &url], &trusted).ends(0).says(&["500 inserted"]);
    // A path that cannot be intercepted never leads to one that can.
    let plain = server(|_, _| ("200 OK", String::new(), csv(0, 5)));
    let port = safe_server(move |_, _| {
        ("302 Found", format!("Location: http://{plain}/a.csv\r\n"), Vec::new())
    });
    let url = format!("https://localhost:{port}/a.csv");
    run_with(&place, &["load", "t", &url], &trusted).ends(3).says(&["plain http"]);
}

/// A bucket `b` that speaks S3: it lists two keys at a time, and wants requests that are signed.
fn bucket(objects: Vec<(&'static str, Vec<u8>)>, asked: Arc<Mutex<Vec<String>>>) -> String {
    server(move |path, headers| {
        asked.lock().unwrap().push(path.to_owned());
        let signed = headers.get("authorization").is_some_and(|authorization| {
            authorization.starts_with("AWS4-HMAC-SHA256 Credential=key/")
                && authorization.contains("/eu-test-1/s3/aws4_request")
                && authorization.contains("host;x-amz-content-sha256;x-amz-date")
        });
        if !signed || !headers.contains_key("x-amz-date") {
            return ("403 Forbidden", String::new(), b"<Error/>".to_vec());
        }
        let Some(query) = path.strip_prefix("/b/?") else {
            let key = path.strip_prefix("/b/").unwrap_or_default().replace("%20", " ");
            return match objects.iter().find(|(name, _)| *name == key) {
                Some((_, body)) => ("200 OK", "ETag: \"1\"\r\n".to_owned(), body.clone()),
                None => ("404 Not Found", String::new(), b"<Error/>".to_vec()),
            };
        };
        let query: HashMap<_, _> =
            query.split('&').filter_map(|pair| pair.split_once('=')).collect();
        assert_eq!(query["list-type"], "2");
        let prefix = query["prefix"].replace("%2F", "/");
        let found: Vec<_> = objects.iter().filter(|(key, _)| key.starts_with(&prefix)).collect();
        let first = query
            .get("continuation-token")
            .map_or(0, |token| token.strip_prefix("from%3D").unwrap().parse().unwrap());
        let keys = found.iter().skip(first).take(2).map(|(key, _)| {
            format!("<Contents><Key>{}</Key><Size>1</Size></Contents>", key.replace(' ', "+"))
        });
        let keys: String = keys.collect();
        let is_more = first + 2 < found.len();
        let next = match is_more {
            true => format!("<NextContinuationToken>from={}</NextContinuationToken>", first + 2),
            false => String::new(),
        };
        let page = format!(
            "<?xml version=\"1.0\"?><ListBucketResult><Name>b</Name><EncodingType>url</EncodingType><IsTruncated>{is_more}</IsTruncated>{next}{keys}</ListBucketResult>"
        );
        ("200 OK", String::new(), page.into_bytes())
    })
}

#[test]
fn objects_of_a_bucket_are_loaded() {
    let objects = vec![
        ("day/", Vec::new()),
        ("day/a 1.csv", csv(0, 100)),
        ("day/b.csv", csv(100, 100)),
        ("day/c.csv", csv(200, 100)),
        ("day/c.txt", b"no".to_vec()),
        ("day/deep/d.csv", csv(300, 100)),
        ("other.csv", csv(400, 100)),
    ];
    let asked = Arc::new(Mutex::new(Vec::new()));
    let endpoint = format!("http://{}", bucket(objects, asked.clone()));
    let variables = [
        ("AWS_ENDPOINT_URL", endpoint.as_str()),
        ("AWS_ACCESS_KEY_ID", "key"),
        ("AWS_SECRET_ACCESS_KEY", "secret"),
        ("AWS_REGION", "eu-test-1"),
        NO_PROFILES[0],
        NO_PROFILES[1],
    ];
    let place = with_table();
    let load =
        |what: &str| run_with(&place, &["load", "t", what, "--summary", "s.json"], &variables);
    load("s3://b/day/*.csv").ends(0).says(&["300 read, 300 inserted"]);
    assert_eq!(place.json("s.json")["files"][0]["file"], "s3://b/day/a 1.csv");
    load("s3://b/day/**/d.csv").ends(0).says(&["100 inserted"]);
    load("s3://b/other.csv").ends(0).says(&["100 inserted"]);
    load("s3://b/none.csv").ends(3).says(&["s3://b/none.csv", "404"]);
    load("s3://b/day/*.parquet").ends(3).says(&["no object matches"]);
    load("s3://b/day/").ends(3).says(&["is a folder", "s3://b/day/*"]);
    load("s3:///a").ends(3).says(&["names no bucket"]);
    assert_eq!(place.run(&["count", "t"]).out, "500\n");
    assert!(asked.lock().unwrap().iter().any(|path| path.contains("continuation-token=from%3D2")));
    let everything = ["load", "t", "s3://b/day/*.csv"];
    let unsigned = [variables[0], NO_PROFILES[0], NO_PROFILES[1]];
    let run = run_with(&place, &everything, &unsigned);
    run.ends(3).says(&["the bucket b cannot be listed", "403", "AWS_ACCESS_KEY_ID"]);
    // Credentials and settings of the tools of AWS.
    place.write("keys", "[lab]\naws_access_key_id = key\naws_secret_access_key = secret\n");
    place.write("settings", "[profile lab]\nregion = eu-test-1\n");
    let profile = [
        variables[0],
        ("AWS_PROFILE", "lab"),
        ("AWS_SHARED_CREDENTIALS_FILE", "keys"),
        ("AWS_CONFIG_FILE", "settings"),
    ];
    run_with(&place, &everything, &profile).ends(0).says(&["300 read"]);
    let none = [("AWS_PROFILE", "none"), profile[2], profile[3]];
    run_with(&place, &everything, &none).ends(3).says(&["s3://b/day/*.csv", "the profile none"]);
}

/// A server that is silent must not keep the program from ending.
#[test]
fn a_load_from_a_silent_server_can_be_interrupted() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/a.csv", listener.local_addr().unwrap());
    let is_over = Arc::new(AtomicBool::new(false));
    let (over, (accepted, accepts)) = (is_over.clone(), std::sync::mpsc::channel());
    let silent = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        accepted.send(()).unwrap();
        let mut buffer = [0; 1024];
        let _ = stream.read(&mut buffer);
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 9000000\r\n\r\nid,v\n");
        // The same connection, or others of further tries, until the program is gone.
        let mut others = Vec::new();
        listener.set_nonblocking(true).unwrap();
        while !over.load(Ordering::SeqCst) {
            others.extend(listener.accept());
            std::thread::sleep(Duration::from_millis(20));
        }
    });
    let place = with_table();
    let mut load = place.command(&["load", "t", &url]);
    let child = load.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    accepts.recv().unwrap();
    std::thread::sleep(Duration::from_millis(1_500));
    let started = Instant::now();
    let pid = child.id().to_string();
    assert!(std::process::Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
    let run = finished(child.wait_with_output().unwrap());
    is_over.store(true, Ordering::SeqCst);
    assert!(started.elapsed() < Duration::from_secs(30), "{}", run.err);
    assert_ne!(run.code, 0, "{}", run.err);
    silent.join().unwrap();
}
