//! `TN.SQL`, `TN.MGET` and `TN.MPUT` of the Redis listener.

use std::time::{Duration, Instant};

use crate::guarded::Guarded;
use crate::redis::{RedisSocket, settings};
use crate::support::Running;

fn command(words: &[&str]) -> String {
    let word = |word: &&str| format!("${}\r\n{word}\r\n", word.len());
    format!("*{}\r\n{}", words.len(), words.iter().map(word).collect::<String>())
}

/// A server with a table, and a client in a version of the protocol.
fn with_ships(version: u8) -> (Running, RedisSocket) {
    let server = Running::with(settings());
    let created = "CREATE TABLE vessels (id INTEGER, name STRING, speed DOUBLE, active BOOLEAN, \
                   PRIMARY KEY (id))";
    server.store.execute(created).unwrap();
    let mut client = RedisSocket::new(&server);
    client.send(format!("HELLO {version}\r\nECHO ready\r\n"));
    let mut answer = String::new();
    while !answer.ends_with("ready\r\n") {
        answer.push_str(&client.read(1));
    }
    (server, client)
}

#[test]
fn statements_change_and_read_rows() {
    let (server, mut client) = with_ships(3);
    let insert = "INSERT INTO vessels VALUES (?, ?, ?, ?)";
    let one = "%4\r\n$8\r\ninserted\r\n:1\r\n$7\r\nupdated\r\n:0\r\n$7\r\ndeleted\r\n:0\r\n\
               $7\r\nskipped\r\n:0\r\n";
    client.expect(command(&["TN.SQL", insert, "7", "42", "12.5", "true"]), one);
    let select = "SELECT * FROM vessels WHERE name = ?";
    client.expect(
        command(&["TN.SQL", select, "42"]) + "PING\r\n",
        "*1\r\n%4\r\n$2\r\nid\r\n:7\r\n$4\r\nname\r\n$2\r\n42\r\n$5\r\nspeed\r\n,12.5\r\n\
         $6\r\nactive\r\n#t\r\n+PONG\r\n",
    );
    let mut client = RedisSocket::new(&server);
    client.expect(
        command(&["TN.SQL", "SELECT active, NULL AS n FROM vessels"]),
        "*1\r\n*4\r\n$6\r\nactive\r\n:1\r\n$1\r\nn\r\n$-1\r\n",
    );
    client.expect(command(&["TN.SQL", "SELECT id FROM vessels WHERE id = 8"]), "*0\r\n");
}

#[test]
fn rows_are_put_and_got_by_their_keys() {
    let (server, mut client) = with_ships(2);
    let put = ["TN.MPUT", "vessels", r#"{"id": 1, "name": "Ada"}"#, r#"{"id": 2, "speed": 0.5}"#];
    let counts = |inserted: u8, existed: u8| {
        format!(
            "*12\r\n$4\r\nread\r\n:2\r\n$8\r\ninserted\r\n:{inserted}\r\n$7\r\nexisted\r\n:{existed}\r\n\
             $9\r\novertaken\r\n:0\r\n$6\r\nfailed\r\n:0\r\n$8\r\nfailures\r\n*0\r\n"
        )
    };
    client.expect(command(&put), &counts(2, 0));
    client.expect(command(&put), &counts(0, 2));
    let row = "*8\r\n$2\r\nid\r\n:2\r\n$4\r\nname\r\n$-1\r\n$5\r\nspeed\r\n$3\r\n0.5\r\n\
               $6\r\nactive\r\n$-1\r\n";
    client.expect(command(&["TN.MGET", "vessels", "2", "9"]), &format!("*1\r\n{row}"));
    client.expect(command(&["TN.MGET", "vessels", "[2]"]), &format!("*1\r\n{row}"));
    // One that is wrong keeps all out.
    client.send(command(&["TN.MPUT", "vessels", r#"{"id": 3}"#, r#"{"id": 4, "nosuch": 1}"#]));
    let refused = client.read("-ERR row 2".len());
    assert_eq!(refused, "-ERR row 2");
    while client.read(1) != "\n" {}
    let (_, metrics) = server.http("GET /metrics", "", "");
    assert!(metrics.contains("tonnage_rows_total{listener=\"redis\",direction=\"in\"} 4\n"));
    client.expect(
        command(&["TN.SQL", "SELECT count(*) AS n FROM vessels"]),
        "*1\r\n*2\r\n$1\r\nn\r\n:2\r\n",
    );
}

#[test]
fn what_is_wrong_is_an_error_and_the_connection_continues() {
    let (_server, mut client) = with_ships(2);
    for (words, begins) in [
        (vec!["TN.SQL", "SELEC 1"], "-ERR "),
        (vec!["TN.SQL", "SELECT 1; SELECT 2"], "-ERR 2 statements in one call"),
        (vec!["TN.SQL", "SELECT * FROM vessels WHERE id = ?"], "-ERR "),
        (vec!["TN.SQL", "SELECT 1", "x"], "-ERR 1 arguments for 0 parameters"),
        (vec!["TN.SQL", "SELECT * FROM vessels WHERE id = ?", "x"], "-ERR parameter 1"),
        (vec!["TN.MGET", "nosuch", "1"], "-ERR "),
        (vec!["TN.MGET", "vessels", "[1, 2]"], "-ERR key 0"),
        (vec!["TN.MGET", "vessels", "[1"], "-ERR key 1"),
        (vec!["TN.MPUT", "vessels", "x"], "-ERR "),
    ] {
        client.send(command(&words));
        let mut answer = String::new();
        while !answer.ends_with("\r\n") {
            answer.push_str(&client.read(1));
        }
        assert!(answer.starts_with(begins), "{words:?}: {answer}");
    }
    client.expect("PING\r\n", "+PONG\r\n");
}

/// Its head says how many rows follow, so it is whole in memory.
#[test]
fn a_reply_is_bounded() {
    let (_server, mut client) = with_ships(2);
    let many = "SELECT repeat('x', 1000000) AS r FROM generate_series(1, 100)";
    client.send(command(&["TN.SQL", many]));
    assert_eq!(client.read(23), "-OOM the reply has more");
    while client.read(1) != "\n" {}
    client.expect("PING\r\n", "+PONG\r\n");
}

/// Others are served while a statement runs.
#[test]
fn a_statement_does_not_keep_a_loop() {
    let (server, mut client) = with_ships(2);
    let slow = "SELECT count(*) AS n FROM generate_series(1, 20000) a, generate_series(1, 20000) b \
                WHERE a.value * b.value = 7";
    client.send(command(&["TN.SQL", slow]));
    let mut others: Vec<_> = (0..8).map(|_| RedisSocket::new(&server)).collect();
    let begun = Instant::now();
    others.iter_mut().for_each(|other| other.expect("SET a 1\r\n", "+OK\r\n"));
    assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
    // It is cancelled with its connection.
    drop(client);
}

#[test]
fn rights_on_tables_hold() {
    let guarded = Guarded::new();
    let mut client = RedisSocket::new(&guarded.server);
    client.expect(command(&["TN.SQL", "SELECT 1"]), "-NOAUTH Authentication required.\r\n");
    client.expect("AUTH ann pass:word\r\n", "+OK\r\n");
    client.expect(command(&["TN.SQL", "SELECT 1 AS x"]), "*1\r\n*2\r\n$1\r\nx\r\n:1\r\n");
    for words in [
        vec!["TN.SQL", "SELECT * FROM secrets"],
        vec!["TN.SQL", "DELETE FROM ships"],
        vec!["TN.SQL", "DROP TABLE ships"],
        vec!["TN.MGET", "secrets", "1"],
        vec!["TN.MPUT", "secrets", r#"{"k": 1}"#],
    ] {
        client.send(command(&words));
        assert_eq!(client.read(7), "-NOPERM", "{words:?}");
        while client.read(1) != "\n" {}
    }
}
