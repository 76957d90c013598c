//! What Redis clients exchange, over sockets: messages, and elements that others wait for. With some
//! connections each loop has a few of them.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use tonnage_testkit::wait_until;

use crate::guarded::{BEARER, Guarded};
use crate::redis::{RedisSocket, settings};
use crate::support::Running;

const CLIENTS: usize = 6;

fn clients(server: &Running) -> Vec<RedisSocket> {
    (0..CLIENTS).map(|_| RedisSocket::new(server)).collect()
}

fn metric(server: &Running, line: &str) -> bool {
    server.http("GET /metrics", "", "").1.contains(line)
}

/// A list element as BLPOP answers it.
fn popped(key: &str, element: &str) -> String {
    format!("*2\r\n${}\r\n{key}\r\n${}\r\n{element}\r\n", key.len(), element.len())
}

#[test]
fn messages_reach_the_clients_of_all_loops_at_once() {
    let server = Running::with(settings());
    let mut readers = clients(&server);
    for reader in &mut readers {
        reader.expect("SUBSCRIBE a\r\n", "*3\r\n$9\r\nsubscribe\r\n$1\r\na\r\n:1\r\n");
    }
    let mut writer = RedisSocket::new(&server);
    let begun = Instant::now();
    for number in 100..200 {
        writer.expect(format!("PUBLISH a {number}\r\n"), &format!(":{CLIENTS}\r\n"));
        let message = format!("*3\r\n$7\r\nmessage\r\n$1\r\na\r\n$3\r\n{number}\r\n");
        for reader in &mut readers {
            assert_eq!(reader.read(message.len()), message);
        }
    }
    // A loop that is not woken looks each 100 ms.
    assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
    assert!(metric(&server, "tonnage_redis_channels 1\n"));
    assert!(metric(&server, &format!("tonnage_redis_messages_total {}\n", 100 * CLIENTS)));
    drop(readers);
    wait_until("all subscribers have gone", || metric(&server, "tonnage_redis_channels 0\n"));
    writer.expect("PUBLISH a x\r\n", ":0\r\n");
}

#[test]
fn resp3_gets_pushes_between_its_replies() {
    let server = Running::with(settings());
    let mut client = RedisSocket::new(&server);
    client.send("HELLO 3\r\nSUBSCRIBE a\r\n");
    let mut answer = String::new();
    while !answer.ends_with(">3\r\n$9\r\nsubscribe\r\n$1\r\na\r\n:1\r\n") {
        answer.push_str(&client.read(1));
    }
    client.expect(
        "PUBLISH a me\r\nECHO x\r\n",
        ":1\r\n>3\r\n$7\r\nmessage\r\n$1\r\na\r\n$2\r\nme\r\n$1\r\nx\r\n",
    );
}

#[test]
fn a_subscriber_that_takes_nothing_is_closed_and_others_get_their_messages() {
    let server = Running::with(settings());
    let (mut slow, mut writer) = (RedisSocket::new(&server), RedisSocket::new(&server));
    slow.expect("SUBSCRIBE a\r\n", "*3\r\n$9\r\nsubscribe\r\n$1\r\na\r\n:1\r\n");
    let large = "x".repeat(1 << 20);
    let publish = format!("*3\r\n$7\r\nPUBLISH\r\n$1\r\na\r\n${}\r\n{large}\r\n", large.len());
    let begun = Instant::now();
    loop {
        writer.send(&publish);
        // The count says whether it is still there.
        if writer.read(4) == ":0\r\n" {
            break;
        }
        assert!(begun.elapsed() < Duration::from_secs(60));
    }
    assert!(metric(&server, "tonnage_slow_readers_total 1\n"));
    writer.expect("PING\r\n", "+PONG\r\n");
    assert!(slow.read_to_end().len() < 200 << 20);
}

#[test]
fn an_element_wakes_the_client_that_has_waited_longest() {
    let server = Running::with(settings());
    let mut waiting = clients(&server);
    for (number, client) in waiting.iter_mut().enumerate() {
        client.send("BLPOP k l 0\r\nPING\r\n");
        let line = format!("tonnage_redis_waiting {}\n", number + 1);
        wait_until("it waits", || metric(&server, &line));
    }
    let mut writer = RedisSocket::new(&server);
    for (number, client) in waiting.iter_mut().enumerate() {
        let begun = Instant::now();
        writer.expect(format!("RPUSH l {number}\r\n"), ":1\r\n");
        let answer = popped("l", &number.to_string()) + "+PONG\r\n";
        assert_eq!(client.read(answer.len()), answer);
        assert!(begun.elapsed() < Duration::from_secs(5));
    }
    writer.expect("LLEN l\r\n", ":0\r\n");
}

#[test]
fn a_wait_ends_in_time_and_with_its_connection() {
    let mut server = Running::with(settings());
    let mut client = RedisSocket::new(&server);
    let begun = Instant::now();
    client.expect("BLPOP k 0.25\r\nBZPOPMIN k 0.05\r\nPING\r\n", "*-1\r\n*-1\r\n+PONG\r\n");
    let took = begun.elapsed();
    assert!((Duration::from_millis(290)..Duration::from_secs(5)).contains(&took), "{took:?}");
    // One that has gone takes nothing, whether it closes or says that it sends nothing more.
    for ends in [true, false] {
        let mut gone = RedisSocket::new(&server);
        gone.send("BLPOP k 0\r\n");
        wait_until("it waits", || metric(&server, "tonnage_redis_waiting 1\n"));
        if ends {
            gone.0.shutdown(std::net::Shutdown::Write).unwrap();
            assert_eq!(gone.read_to_end(), "");
        }
        drop(gone);
        wait_until("it has gone", || metric(&server, "tonnage_redis_waiting 0\n"));
    }
    client.expect("RPUSH k a\r\nLPOP k\r\n", ":1\r\n$1\r\na\r\n");
    // A server that shuts down waits for no client.
    client.send("BLPOP k 0\r\n");
    wait_until("it waits", || metric(&server, "tonnage_redis_waiting 1\n"));
    server.stop();
    assert_eq!(client.read_to_end(), "");
    server.wait();
}

/// Producers and consumers on all loops: each element is taken once.
#[test]
fn each_element_of_a_queue_is_taken_once() {
    const EACH: usize = 200;
    let server = Running::with(settings());
    let address = server.addresses.redis.unwrap();
    let producer = move |number: usize| {
        let mut client = RedisSocket::to(address);
        for job in 0..EACH {
            client.send(format!("RPUSH jobs {:06}\r\n", number * EACH + job));
            while client.read(1) != "\n" {}
        }
    };
    let consumer = move || {
        let (mut client, mut taken) = (RedisSocket::to(address), Vec::new());
        for _ in 0..EACH {
            client.send("BLPOP jobs 0\r\n");
            let answer = client.read(popped("jobs", "000000").len());
            taken.push(answer.lines().last().unwrap().to_owned());
        }
        taken
    };
    let consumers: Vec<_> = (0..CLIENTS).map(|_| std::thread::spawn(consumer)).collect();
    let producers: Vec<_> =
        (0..CLIENTS).map(|number| std::thread::spawn(move || producer(number))).collect();
    producers.into_iter().for_each(|producer| producer.join().unwrap());
    let taken: Vec<String> =
        consumers.into_iter().flat_map(|consumer| consumer.join().unwrap()).collect();
    assert_eq!(taken.len(), CLIENTS * EACH);
    assert_eq!(taken.iter().collect::<BTreeSet<_>>().len(), taken.len());
    RedisSocket::to(address).expect("EXISTS jobs\r\n", ":0\r\n");
}

#[test]
fn grants_on_pairs_are_grants_on_channels() {
    let guarded = Guarded::new();
    let mut client = RedisSocket::new(&guarded.server);
    client.expect("AUTH ann pass:word\r\n", "+OK\r\n");
    let refused = "-NOPERM No permissions to access a channel\r\n";
    client.expect("PSUBSCRIBE *\r\nSUBSCRIBE other\r\nPUBLISH other x\r\n", &refused.repeat(3));
    client.expect("PUBLISH fleet/1 x\r\n", ":0\r\n");
    client.expect("PSUBSCRIBE fleet/*\r\n", "*3\r\n$10\r\npsubscribe\r\n$7\r\nfleet/*\r\n:1\r\n");
    let mut root = RedisSocket::new(&guarded.server);
    root.expect("AUTH token\r\nPUBLISH fleet/7 x\r\n", "+OK\r\n:1\r\n");
    let message = "*4\r\n$8\r\npmessage\r\n$7\r\nfleet/*\r\n$7\r\nfleet/7\r\n$1\r\nx\r\n";
    assert_eq!(client.read(message.len()), message);
    // Who may not read any more hears no more.
    let text = format!(
        "[[user]]\nname = \"ann\"\npassword = \"{}\"\n\
         grants = [{{ pairs = \"fleet/\", allow = [\"insert\"] }}]\n\
         [[user]]\nname = \"root\"\ntokens = [\"{}\"]\nroles = [\"admin\"]\n",
        guarded.hash,
        crate::guarded::TOKEN
    );
    std::fs::write(&guarded.users, text).unwrap();
    assert!(guarded.http("POST /v1/admin/reload", BEARER, "").starts_with("HTTP/1.1 204"));
    assert_eq!(client.read_to_end(), "");
    root.expect("PUBLISH fleet/7 x\r\n", ":0\r\n");
}
