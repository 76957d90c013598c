//! Commands that come together: of one client in order, of several on one key.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tonnage::{Key, Store, WriteOptions};
use tonnage_resp::{Client, ClientAccess, ClientLimits, Executor, Keyspace, SyncPolicy};

use crate::common::Clients;

#[test]
fn a_pipeline_sees_its_own_effects() {
    let mut clients = Clients::new(1);
    let lines = "SET a 1\r\nINCR a\r\nAPPEND a 5\r\nGET a\r\nDEL a\r\nEXISTS a\r\nSETNX a 7\r\n\
                 MGET a b\r\nPING\r\nMSET a 1 b 2\r\nMGET a b\r\n";
    assert_eq!(
        clients.send(0, lines),
        "+OK\r\n:2\r\n:2\r\n$2\r\n25\r\n:1\r\n:0\r\n:1\r\n*2\r\n$1\r\n7\r\n$-1\r\n+PONG\r\n+OK\r\n\
         *2\r\n$1\r\n1\r\n$1\r\n2\r\n"
    );
}

#[test]
fn one_key_of_many_clients_is_counted_right() {
    let mut clients = Clients::new(50);
    for client in &mut clients.all {
        client.receive("INCR n\r\n".repeat(100).as_bytes());
    }
    clients.run();
    clients.expect_last("GET n", "$4\r\n5000\r\n");
}

impl Clients {
    fn expect_last(&mut self, line: &str, expected: &str) {
        let answers = self.ask(line);
        assert!(answers.ends_with(expected), "{answers}");
    }
}

#[test]
fn appends_that_come_together_add_up() {
    let mut clients = Clients::new(1);
    let lines = "APPEND a xy\r\n".repeat(3_000) + "GETRANGE a 5996 -1\r\n";
    assert!(clients.send(0, lines).ends_with(":6000\r\n$4\r\nxyxy\r\n"));
}

/// Each of them once copied the whole value, so that a short pipeline took all memory.
#[test]
fn many_changes_of_a_large_value_take_little_memory_and_answers_keep_what_they_show() {
    let mut clients = Clients::new(1);
    let lines = "SETRANGE a 1000000 x\r\n".repeat(2_000) + &"SETBIT a 7 1\r\n".repeat(2_000);
    let answer = clients.send(0, lines);
    assert!(answer.starts_with(":1000001\r\n:1000001\r\n") && answer.ends_with(":1\r\n:1\r\n"));
    let answer = clients.send(0, "SET b 00\r\nAPPEND b 0\r\nGET b\r\nSETRANGE b 1 x\r\nGET b\r\n");
    assert_eq!(answer, "+OK\r\n:3\r\n$3\r\n000\r\n:3\r\n$3\r\n0x0\r\n");
}

#[test]
fn what_is_computed_at_a_time_is_bounded() {
    let limits = ClientLimits { output_bytes_max: 50_000, ..ClientLimits::default() };
    let mut clients = Clients::with(3, false, limits);
    clients.ask("SETRANGE a 40000 x");
    // Each answer is small enough for its client; all together they are not.
    for client in &mut clients.all {
        client.receive(b"GETRANGE a 0 39999\r\nAPPEND b x\r\n");
    }
    clients.run();
    for client in 0..3 {
        let answer = clients.answer(client);
        assert!(answer.starts_with("$40000\r\n"), "{}", &answer[..100]);
    }
    clients.expect(&[("GET b", "$3 xxx")]);
}

/// Others write the same key through another thread, and through the library. Nothing is lost.
#[test]
fn writers_on_other_threads_get_in_between_and_nothing_is_lost() {
    const EACH: usize = 2_000;
    let store = Store::open("memory:").unwrap();
    let keyspace = Keyspace::new(store.clone(), SyncPolicy::No, false);
    let is_over = Arc::new(AtomicBool::new(false));
    let disturber = {
        let (pairs, is_over) = (store.kv(), is_over.clone());
        std::thread::spawn(move || {
            let key = Key::of_major(["n"]);
            let mut added = 0_usize;
            while !is_over.load(Ordering::Relaxed) {
                let Some(found) = pairs.get(&key).unwrap() else { continue };
                let number: usize = std::str::from_utf8(&found.value).unwrap().parse().unwrap();
                let next = (number + 1_000_000).to_string();
                let options = WriteOptions::default();
                let put = pairs.put_if_version(&key, next.as_bytes(), found.version, &options);
                added += usize::from(put.unwrap().is_stored());
            }
            added
        })
    };
    let counter = |keyspace: Arc<Keyspace>| {
        std::thread::spawn(move || {
            let mut executor = Executor::new(keyspace.clone());
            let (here, access) = ("127.0.0.1:1".to_owned(), ClientAccess::Everything);
            let limits = ClientLimits::default();
            let mut clients = [Client::new(&keyspace, here.clone(), here, access, limits)];
            for _ in 0..EACH / 4 {
                clients[0].receive("INCR n\r\n".repeat(4).as_bytes());
                executor.run(&mut clients);
            }
            let answers = String::from_utf8_lossy(clients[0].output()).into_owned();
            answers.lines().filter(|line| line.starts_with(':')).count()
        })
    };
    let counters = [counter(keyspace.clone()), counter(keyspace)];
    let counted: usize = counters.into_iter().map(|thread| thread.join().unwrap()).sum();
    is_over.store(true, Ordering::Relaxed);
    let added = disturber.join().unwrap();
    let stored = store.kv().get(&Key::of_major(["n"])).unwrap().unwrap().value;
    let stored: usize = std::str::from_utf8(&stored).unwrap().parse().unwrap();
    // What was not counted was answered with TRYAGAIN.
    assert!(counted > 0 && counted <= 2 * EACH);
    assert_eq!(stored, counted + added * 1_000_000);
}
