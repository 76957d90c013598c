//! Three nodes that die and stand still while a store is written: nothing acknowledged is lost.
//!
//! Takes minutes: `make cluster-test` runs it.

mod cluster;
mod ledger;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use cluster::Nodes;
use ledger::{Counter, Loads, Registers};
use tonnage_cassandra::{Address, CassandraEngine};
use tonnage_engine::{Engine, KeyPart, KeyShape};

/// Opens a store on nodes that may still be looking for each other.
fn open(hosts: &str) -> CassandraEngine {
    let url = format!("cassandra://{hosts}/faults?create=3");
    let (address, start) = (Address::parse(&url).unwrap(), Instant::now());
    loop {
        match CassandraEngine::open(&address) {
            Ok(engine) => return engine,
            Err(error) => assert!(start.elapsed() < Duration::from_secs(120), "{error}"),
        }
        thread::sleep(Duration::from_millis(500));
    }
}

#[test]
#[ignore = "takes minutes, and three nodes: make cluster-test"]
fn nothing_acknowledged_is_lost_when_nodes_die_and_stand_still() {
    let Some(mut nodes) = Nodes::start(3) else { return };
    let engine = Arc::new(open(&nodes.hosts()));
    let space = engine.create_space("rows", &KeyShape::new([KeyPart::Terminated])).unwrap();
    let is_over = AtomicBool::new(false);
    let goes_on = || !is_over.load(Ordering::Relaxed);
    let (registers, counter, loads) = thread::scope(|threads| {
        let engine: &dyn Engine = &*engine;
        let registers: Vec<_> = (0..3)
            .map(|writer| threads.spawn(move || Registers::write(engine, space, writer, &goes_on)))
            .collect();
        let counters: Vec<_> = (0..2)
            .map(|_| threads.spawn(move || Counter::count(engine, space, &goes_on)))
            .collect();
        let loads = threads.spawn(move || Loads::load(engine, space, &goes_on));
        for node in nodes.nodes().iter() {
            thread::sleep(Duration::from_secs(5));
            eprintln!("{} is killed", node.host());
            node.kill();
            thread::sleep(Duration::from_secs(8));
            node.restart();
            eprintln!("{} is back", node.host());
            thread::sleep(Duration::from_secs(10));
        }
        for node in nodes.nodes().iter().take(1) {
            eprintln!("{} stands still", node.host());
            node.signal(libc::SIGSTOP);
            thread::sleep(Duration::from_secs(60));
            node.signal(libc::SIGCONT);
            eprintln!("{} goes on", node.host());
        }
        thread::sleep(Duration::from_secs(5));
        is_over.store(true, Ordering::Relaxed);
        let registers: Vec<Registers> =
            registers.into_iter().map(|writer| writer.join().unwrap()).collect();
        let counter = counters.into_iter().map(|counter| counter.join().unwrap()).sum::<Counter>();
        (registers, counter, loads.join().unwrap())
    });
    registers.iter().for_each(|registers| registers.check(&*engine, space));
    counter.check(&*engine, space);
    loads.check(&*engine, space);
    let written: u64 = registers.iter().map(|registers| registers.acknowledged).sum();
    eprintln!("{written} writes, {counter:?}, {} loaded rows: all there", loads.acknowledged());
    assert!(written > 0 && counter.acknowledged > 0 && loads.acknowledged() > 0);
}
