//! The Redis listener, over sockets.

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, ServerName};
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};
use tonnage::{Error, Key, ManualClock, Store, WriteOptions};
use tonnage_engine::MemoryEngine;
use tonnage_server::{Settings, hash_password};
use tonnage_testkit::wait_until;

use crate::guarded::{BEARER, Guarded, TOKEN};
use crate::stepped::{EngineStep, SteppedEngine};
use crate::support::Running;

pub(crate) fn settings() -> Settings {
    Settings { redis: Some("127.0.0.1:0".into()), ..Settings::default() }
}

/// A connection that sends bytes and reads what is answered.
pub(crate) struct RedisSocket<S = TcpStream>(pub(crate) S);

impl RedisSocket {
    pub(crate) fn new(server: &Running) -> Self {
        Self::to(server.addresses.redis.unwrap())
    }

    pub(crate) fn to(address: SocketAddr) -> Self {
        let socket = TcpStream::connect(address).unwrap();
        socket.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        Self(socket)
    }
}

impl<S: Read + Write> RedisSocket<S> {
    pub(crate) fn send(&mut self, bytes: impl AsRef<[u8]>) {
        self.0.write_all(bytes.as_ref()).unwrap();
    }

    /// Sends, and reads exactly what is expected.
    pub(crate) fn expect(&mut self, bytes: impl AsRef<[u8]>, expected: &str) {
        self.send(bytes);
        assert_eq!(self.read(expected.len()), expected);
    }

    pub(crate) fn read(&mut self, len: usize) -> String {
        let mut answer = vec![0; len];
        let mut read = 0;
        while read < len {
            match self.0.read(&mut answer[read..]) {
                Ok(0) => break,
                Ok(more) => read += more,
                Err(error) => panic!("{error} behind {:?}", String::from_utf8_lossy(&answer)),
            }
        }
        answer.truncate(read);
        String::from_utf8(answer).unwrap()
    }

    /// All that comes before the server closes.
    pub(crate) fn read_to_end(&mut self) -> String {
        let (mut answer, mut some) = (Vec::new(), [0; 4_096]);
        loop {
            match self.0.read(&mut some) {
                Ok(0) => break,
                Ok(read) => answer.extend_from_slice(&some[..read]),
                Err(error) if error.kind() == ErrorKind::ConnectionReset => break,
                Err(error) => panic!("{error}: it was not closed"),
            }
        }
        String::from_utf8_lossy(&answer).into_owned()
    }
}

fn value(store: &Store, key: &str) -> Option<Vec<u8>> {
    store.kv().get(&Key::of_major([key])).unwrap().map(|pair| pair.value)
}

#[test]
fn pipelines_and_lines_are_answered_in_their_order() {
    let server = Running::with(settings());
    let mut client = RedisSocket::new(&server);
    client.expect("PING\r\n", "+PONG\r\n");
    let pipeline = "*3\r\n$3\r\nSET\r\n$1\r\na\r\n$1\r\n1\r\n*2\r\n$4\r\nINCR\r\n$1\r\na\r\n\
                    GET a\r\nNOSUCH\r\nMGET a b\r\n";
    client.expect(
        pipeline,
        "+OK\r\n:2\r\n$1\r\n2\r\n-ERR unknown command 'NOSUCH', with args beginning with: \r\n\
         *2\r\n$1\r\n2\r\n$-1\r\n",
    );
    client.send("HELLO 3\r\nGET nosuch\r\n");
    let hello = client.read("%7\r\n$6\r\nserver\r\n".len());
    assert_eq!(hello, "%7\r\n$6\r\nserver\r\n");
    // Cut anywhere, it is the same command.
    let mut client = RedisSocket::new(&server);
    for byte in b"*2\r\n$3\r\nGET\r\n$1\r\na\r\n" {
        client.send([*byte]);
        std::thread::sleep(Duration::from_millis(1));
    }
    assert_eq!(client.read(7), "$1\r\n2\r\n");
    client.send("*1\r\n$-5\r\n");
    assert_eq!(client.read_to_end(), "-ERR Protocol error: invalid bulk length\r\n");
}

#[test]
fn a_long_pipeline_and_a_large_value_come_through() {
    let server = Running::with(settings());
    let mut client = RedisSocket::new(&server);
    let mut reader = RedisSocket(client.0.try_clone().unwrap());
    let count = 100_000;
    let sender = std::thread::spawn(move || {
        client.send("INCR n\r\n".repeat(count));
        client.send("PING\r\n");
        client
    });
    let answers: usize = (1..=count).map(|number| format!(":{number}\r\n").len()).sum();
    let answers = reader.read(answers);
    assert!(answers.ends_with(&format!("\r\n:{count}\r\n")));
    assert_eq!(reader.read(7), "+PONG\r\n");
    let mut client = sender.join().unwrap();
    let large = "x".repeat(20 << 20);
    client.expect(
        format!("*3\r\n$3\r\nSET\r\n$1\r\nl\r\n${}\r\n{large}\r\n", large.len()),
        "+OK\r\n",
    );
    client.send("GET l\r\n");
    assert_eq!(client.read(11), "$20971520\r\n");
    assert!(client.read(large.len()) == large);
}

#[test]
fn many_clients_count_one_key() {
    let server = Running::with(settings());
    let address = server.addresses.redis.unwrap();
    let client = move || {
        let mut client = RedisSocket::to(address);
        for _ in 0..50 {
            client.send("INCR n\r\n");
            let mut answer = String::new();
            while !answer.ends_with("\r\n") {
                answer.push_str(&client.read(1));
            }
            assert!(answer.starts_with(':'), "{answer}");
        }
    };
    let clients: Vec<_> = (0..20).map(|_| std::thread::spawn(client)).collect();
    clients.into_iter().for_each(|client| client.join().unwrap());
    assert_eq!(value(&server.store, "n").unwrap(), b"1000");
}

#[test]
fn pairs_of_the_library_and_of_http_are_the_same() {
    let server = Running::with(settings());
    let mut client = RedisSocket::new(&server);
    server.store.kv().put(&Key::of_major(["a"]), b"1", &WriteOptions::default()).unwrap();
    client.expect("GET a\r\n", "$1\r\n1\r\n");
    client.expect("SET b 2 EX 100\r\n", "+OK\r\n");
    let (head, body) = server.http("GET /v1/pairs/b", "", "");
    assert!(head.contains("200 OK") && head.contains("tonnage-expires-at-ms"), "{head}");
    assert_eq!(body, "2");
    server.http("PUT /v1/pairs/b", "", "3");
    client.expect("GET b\r\nTTL b\r\n", "$1\r\n3\r\n:-1\r\n");
}

#[test]
fn values_survive_a_restart() {
    let place = tempfile::tempdir().unwrap();
    let open = || Store::open(place.path().join("store").to_str().unwrap()).unwrap();
    for (durability, count) in [("always", 1), ("everysec", 2), ("no", 3)] {
        let settings = Settings { redis_durability: Some(durability.into()), ..settings() };
        let mut server = Running::over(open(), settings);
        let mut client = RedisSocket::new(&server);
        client.expect("INCR n\r\n", &format!(":{count}\r\n"));
        client.expect("CONFIG GET appendfsync\r\n", &{
            let len = durability.len();
            format!("*2\r\n$11\r\nappendfsync\r\n${len}\r\n{durability}\r\n")
        });
        server.stop();
        server.wait();
    }
    assert_eq!(value(&open(), "n").unwrap(), b"3");
}

#[test]
fn hashes_survive_a_restart_and_are_one_pair_for_other_listeners() {
    let place = tempfile::tempdir().unwrap();
    let open = || Store::open(place.path().join("store").to_str().unwrap()).unwrap();
    let mut server = Running::over(open(), settings());
    let mut client = RedisSocket::new(&server);
    client
        .expect("HSET h name ada n 1\r\nHINCRBY h n 41\r\nEXPIRE h 900\r\n", ":2\r\n:42\r\n:1\r\n");
    client.expect("MULTI\r\nHSET g a 1\r\nHSET h b 2\r\nEXEC\r\n", &{
        format!("+OK\r\n{}*2\r\n:1\r\n:1\r\n", "+QUEUED\r\n".repeat(2))
    });
    server.stop();
    server.wait();
    drop(server);
    let server = Running::over(open(), settings());
    let mut client = RedisSocket::new(&server);
    client.expect(
        "HGETALL h\r\n",
        "*6\r\n$4\r\nname\r\n$3\r\nada\r\n$1\r\nn\r\n$2\r\n42\r\n$1\r\nb\r\n$1\r\n2\r\n",
    );
    client.expect("HGET g a\r\nTYPE h\r\nTTL h\r\n", "$1\r\n1\r\n+hash\r\n:");
    let stored = value(&server.store, "g").unwrap();
    assert_eq!(stored, b"\xFE\0tonnage\0\xFEh\x01\0\0\0\x01\x01a1");
    let (head, _) = server.http("DELETE /v1/pairs/g", "", "");
    assert!(head.contains("204") || head.contains("200 OK"), "{head}");
    let mut client = RedisSocket::new(&server);
    client.expect("HGETALL g\r\n", "*0\r\n");
}

#[test]
fn users_log_in_and_have_their_rights() {
    let guarded = Guarded::new();
    let mut client = RedisSocket::new(&guarded.server);
    client.expect("GET a\r\n", "-NOAUTH Authentication required.\r\n");
    let wrong = "-WRONGPASS invalid username-password pair or user is disabled.\r\n";
    client.expect("AUTH ann word\r\n", wrong);
    // What stands behind the login waits for it.
    let denied = "-NOPERM No permissions to access a key\r\n";
    client.expect(
        "AUTH ann pass:word\r\nSET fleet/1 a\r\nGET fleet/1\r\nGET other\r\nDEL fleet/1\r\n",
        &format!("+OK\r\n+OK\r\n$1\r\na\r\n{denied}{denied}"),
    );
    client.expect(
        "DBSIZE\r\n",
        "-NOPERM User ann has no permissions to run the 'dbsize' command\r\n",
    );
    // A token means its user, with a name and without.
    for login in ["AUTH token\r\n", "AUTH root token\r\n"] {
        let mut root = RedisSocket::new(&guarded.server);
        root.expect(login, "+OK\r\n");
        root.expect("GET fleet/1\r\nDBSIZE\r\n", "$1\r\na\r\n:1\r\n");
    }
    RedisSocket::new(&guarded.server).expect("AUTH ann token\r\n", wrong);
    let lines = std::fs::read_to_string(&guarded.audit).unwrap();
    let noted = |user: &str, action: &str, object: &str, allowed: bool| {
        lines.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap()).any(
            |line| {
                line["user"] == user
                    && line["action"] == action
                    && line["object"] == object
                    && line["allowed"] == allowed
            },
        )
    };
    assert!(noted("ann", "login", "", true) && noted("ann", "login", "", false), "{lines}");
    assert!(noted("ann", "read", "pair fleet/1", true), "{lines}");
    assert!(noted("ann", "read", "pair other", false), "{lines}");
    let (_, metrics) = guarded.server.http("GET /metrics", BEARER, "");
    for counted in [
        r#"tonnage_logins_failed_total{listener="redis"} 2"#,
        r#"tonnage_requests_total{listener="redis",call="set",outcome="called"} 1"#,
    ] {
        assert!(metrics.contains(counted), "{counted}: {metrics}");
    }
}

#[test]
fn connections_follow_when_the_users_change() {
    let guarded = Guarded::new();
    let mut client = RedisSocket::new(&guarded.server);
    client.expect("AUTH ann pass:word\r\nSET fleet/1 a\r\n", "+OK\r\n+OK\r\n");
    let change = |hash: &str, right: &str| {
        let text = format!(
            "[[user]]\nname = \"root\"\ntokens = [\"{TOKEN}\"]\nroles = [\"admin\"]\n\
             [[user]]\nname = \"ann\"\npassword = \"{hash}\"\n\
             grants = [{{ pairs = \"fleet/\", allow = [\"{right}\"] }}]\n"
        );
        std::fs::write(&guarded.users, text).unwrap();
        assert!(guarded.http("POST /v1/admin/reload", BEARER, "").starts_with("HTTP/1.1 204"));
    };
    change(&guarded.hash, "delete");
    let mut answers = String::new();
    // The loop looks for changes between its turns.
    let begun = Instant::now();
    while !answers.contains("NOPERM") {
        assert!(begun.elapsed() < Duration::from_secs(20), "{answers}");
        client.send("GET fleet/1\r\n");
        answers = client.read("$1\r\na\r\n".len());
        if answers.starts_with('-') {
            answers +=
                &client.read("-NOPERM No permissions to access a key\r\n".len() - answers.len());
        }
    }
    client.expect("DEL fleet/1\r\n", ":1\r\n");
    change(&hash_password("another").unwrap(), "delete");
    let begun = Instant::now();
    loop {
        assert!(begun.elapsed() < Duration::from_secs(20));
        client.send("DEL fleet/1\r\n");
        match client.read(4).as_str() {
            ":0\r\n" => continue,
            other => break assert_eq!(other, "-NOA"),
        }
    }
}

#[test]
fn with_a_certificate_the_listener_speaks_tls() {
    let folder = Path::new("tests/listeners/tls");
    let server = Running::with(Settings {
        tls_cert: Some(folder.join("cert.pem")),
        tls_key: Some(folder.join("key.pem")),
        ..settings()
    });
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_file(folder.join("cert.pem")).unwrap()).unwrap();
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let name = ServerName::try_from("localhost").unwrap();
    let client = ClientConnection::new(Arc::new(config), name).unwrap();
    let socket = TcpStream::connect(server.addresses.redis.unwrap()).unwrap();
    let mut client = RedisSocket(StreamOwned::new(client, socket));
    client.expect("SET a 1\r\nGET a\r\n", "+OK\r\n$1\r\n1\r\n");
    let large = "y".repeat(5 << 20);
    client.expect(
        format!("*3\r\n$3\r\nSET\r\n$1\r\nl\r\n${}\r\n{large}\r\n", large.len()),
        "+OK\r\n",
    );
    client.send("GET l\r\n");
    assert_eq!(client.read(10), "$5242880\r\n");
    assert!(client.read(large.len() + 2).starts_with(&large));
    client.expect("QUIT\r\n", "+OK\r\n");
    // What is not TLS gets no answer of commands.
    let mut plain = RedisSocket::new(&server);
    plain.send("PING\r\n");
    let answer = plain.read_to_end();
    assert!(!answer.contains("PONG"), "{answer}");
}

#[test]
fn a_unix_socket_is_a_listener_like_any_other() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("redis");
    let settings =
        Settings { redis: Some(format!("unix:{}", path.display())), ..Settings::default() };
    let server = Running::with(settings);
    let socket = std::os::unix::net::UnixStream::connect(&path).unwrap();
    RedisSocket(socket).expect("SET a 1\r\nGET a\r\n", "+OK\r\n$1\r\n1\r\n");
    assert_eq!(value(&server.store, "a").unwrap(), b"1");
}

#[test]
fn clients_over_the_limit_are_told_and_closed() {
    let server = Running::with(Settings { redis_connections_max: Some(2), ..settings() });
    let mut clients = [RedisSocket::new(&server), RedisSocket::new(&server)];
    clients.iter_mut().for_each(|client| client.expect("PING\r\n", "+PONG\r\n"));
    let mut third = RedisSocket::new(&server);
    assert_eq!(third.read_to_end(), "-ERR max number of clients reached\r\n");
    clients[0].expect("QUIT\r\n", "+OK\r\n");
    assert_eq!(clients[0].read_to_end(), "");
    // Its place is free once the server has noticed.
    let begun = Instant::now();
    loop {
        let mut next = RedisSocket::new(&server);
        next.send("QUIT\r\n");
        if next.read_to_end() == "+OK\r\n" {
            break;
        }
        assert!(begun.elapsed() < Duration::from_secs(20));
    }
}

#[test]
fn a_reader_that_takes_nothing_is_closed_and_others_are_served() {
    let server = Running::with(Settings { reader_timeout: Some("1s".into()), ..settings() });
    let mut slow = RedisSocket::new(&server);
    let large = "x".repeat(1 << 20);
    slow.expect(
        format!("*3\r\n$3\r\nSET\r\n$1\r\nl\r\n${}\r\n{large}\r\n", large.len()),
        "+OK\r\n",
    );
    slow.send("GET l\r\n".repeat(100));
    let mut other = RedisSocket::new(&server);
    let begun = Instant::now();
    loop {
        other.expect("PING\r\n", "+PONG\r\n");
        let (_, metrics) = server.http("GET /metrics", "", "");
        if metrics.contains("tonnage_slow_readers_total 1") {
            break;
        }
        assert!(begun.elapsed() < Duration::from_secs(30), "{metrics}");
        std::thread::sleep(Duration::from_millis(50));
    }
    // What was on its way may still be read, then it ends.
    let begun = Instant::now();
    assert!(slow.read_to_end().len() < 100 * large.len());
    assert!(begun.elapsed() < Duration::from_secs(50));
}

#[test]
fn a_client_that_is_killed_by_another_is_closed() {
    let server = Running::with(settings());
    let (mut one, mut other) = (RedisSocket::new(&server), RedisSocket::new(&server));
    // Whoever is taken first has the number 1, and that is not always who connected first.
    one.send("CLIENT ID\r\n");
    let id = one.read(":1\r\n".len());
    other.expect(format!("CLIENT KILL ID {}\r\n", &id[1..2]), ":1\r\n");
    assert_eq!(one.read_to_end(), "");
    other.expect("PING\r\n", "+PONG\r\n");
}

#[test]
fn idle_connections_end_when_the_server_drains() {
    let mut server = Running::with(settings());
    let mut client = RedisSocket::new(&server);
    client.expect("SET a 1\r\n", "+OK\r\n");
    server.stop();
    assert_eq!(client.read_to_end(), "");
    server.wait();
    assert_eq!(value(&server.store, "a").unwrap(), b"1");
}

#[test]
fn a_form_that_a_browser_sends_has_nothing_carried_out() {
    let server = Running::with(settings());
    let mut client = RedisSocket::new(&server);
    client.send("POST / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\nSET a 1\r\n");
    assert!(!client.read_to_end().contains("OK"));
    assert_eq!(value(&server.store, "a"), None);
}

/// Its end comes with what it sent, and the kernel reports it once.
#[test]
fn a_client_that_ends_with_its_last_command_is_answered_and_closed() {
    let server = Running::with(settings());
    for count in [1, 1_000, 20_000] {
        let mut client = RedisSocket::new(&server);
        client.send("PING\r\n".repeat(count));
        client.0.shutdown(std::net::Shutdown::Write).unwrap();
        let begun = Instant::now();
        assert_eq!(client.read_to_end(), "+PONG\r\n".repeat(count));
        assert!(begun.elapsed() < Duration::from_secs(30));
    }
}

/// The story of a bug: a sync that failed was never tried again, and what was acknowledged as
/// synced within two seconds was not.
#[test]
fn a_sync_that_fails_is_tried_again() {
    let syncs = Arc::new(AtomicUsize::new(0));
    let counted = syncs.clone();
    let hook = move |step: EngineStep<'_>| match step {
        EngineStep::Sync if counted.fetch_add(1, Ordering::SeqCst) == 0 => {
            Err(Error::unavailable("the disk is away"))
        }
        _ => Ok(()),
    };
    let engine = SteppedEngine::over(&Arc::new(MemoryEngine::default()), hook);
    let store = Store::over(engine, Arc::new(ManualClock::new(0))).unwrap();
    let server = Running::over(store, settings());
    let mut client = RedisSocket::new(&server);
    let before = syncs.load(Ordering::SeqCst);
    assert_eq!(before, 0, "this test tests nothing");
    client.expect("SET a 1\r\n", "+OK\r\n");
    wait_until("it is tried again", || syncs.load(Ordering::SeqCst) >= 2);
    // What was promised is kept when less is promised from now on.
    client.expect("SET a 2\r\n", "+OK\r\n");
    let before = syncs.load(Ordering::SeqCst);
    client.expect("CONFIG SET appendfsync no\r\n", "+OK\r\n");
    assert!(syncs.load(Ordering::SeqCst) > before);
}

/// RESET once left the caller, so that the rights came back when the users changed.
#[test]
fn who_was_logged_out_by_reset_stays_so_when_the_users_change() {
    let guarded = Guarded::new();
    let mut client = RedisSocket::new(&guarded.server);
    client.expect("AUTH ann pass:word\r\nRESET\r\n", "+OK\r\n+RESET\r\n");
    let text = format!(
        "[[user]]\nname = \"root\"\ntokens = [\"{TOKEN}\"]\nroles = [\"admin\"]\n\
         [[user]]\nname = \"ann\"\npassword = \"{}\"\n\
         grants = [{{ pairs = \"\", allow = [\"read\"] }}]\n",
        guarded.hash
    );
    std::fs::write(&guarded.users, text).unwrap();
    assert!(guarded.http("POST /v1/admin/reload", BEARER, "").starts_with("HTTP/1.1 204"));
    // Each loop looks for changes ten times a second.
    std::thread::sleep(Duration::from_secs(1));
    client.expect("GET a\r\n", "-NOAUTH Authentication required.\r\n");
}

#[test]
fn half_a_command_at_the_end_of_a_connection_is_not_carried_out() {
    let server = Running::with(settings());
    let mut client = RedisSocket::new(&server);
    client.send("SET a 1\r\n*3\r\n$3\r\nSET\r\n$1\r\nb\r\n$10\r\n12345");
    client.0.shutdown(std::net::Shutdown::Write).unwrap();
    assert_eq!(client.read_to_end(), "+OK\r\n");
    assert_eq!(value(&server.store, "b"), None);
}
