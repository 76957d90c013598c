//! Three nodes that die and stand still while a store is written: nothing acknowledged is lost.
//!
//! Takes minutes: `make cluster-test` runs it.

mod cluster;
mod ledger;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use cluster::{Nodes, open_at_last};
use ledger::{Access, Counter, Event, Histories, Loads, Registers, Twins, is_linearizable};
use tonnage_cassandra::{Address, CassandraEngine};
use tonnage_engine::sync::lock;
use tonnage_engine::{Engine, KeyPart, KeyShape};

/// Held by each test: nine nodes at a time are too many for one machine.
static ALONE: Mutex<()> = Mutex::new(());

fn open(hosts: &str) -> CassandraEngine {
    let address = Address::parse(&format!("cassandra://{hosts}/faults?create=3")).unwrap();
    open_at_last(|| CassandraEngine::open(&address))
}

/// Writes a store while nodes have their faults, then checks all that was acknowledged.
fn keeps_what_it_acknowledged(test: &str, nodes: &mut Nodes, faults: impl FnOnce(&mut Nodes)) {
    let engine = Arc::new(open(&nodes.hosts()));
    let space = engine.create_space("rows", &KeyShape::new([KeyPart::Terminated])).unwrap();
    // Of two processes neither knows what the other has just written.
    let other = open(&nodes.hosts());
    let histories = Histories::default();
    let is_over = AtomicBool::new(false);
    let goes_on = || !is_over.load(Ordering::Relaxed);
    let (registers, counter, twins, loads) = thread::scope(|threads| {
        let (engine, other): (&dyn Engine, &dyn Engine) = (&*engine, &other);
        for (seed, engine) in (1..).zip([engine, other, engine, other]) {
            let histories = &histories;
            threads.spawn(move || histories.play(engine, space, seed, &goes_on));
        }
        let registers: Vec<_> = (0..3)
            .map(|writer| threads.spawn(move || Registers::write(engine, space, writer, &goes_on)))
            .collect();
        let counters: Vec<_> = (0..2)
            .map(|_| threads.spawn(move || Counter::count(engine, space, &goes_on)))
            .collect();
        let twins = threads.spawn(move || Twins::write(engine, space, &goes_on));
        let loads = threads.spawn(move || Loads::load(engine, space, &goes_on));
        let end = End(&is_over);
        faults(nodes);
        thread::sleep(Duration::from_secs(5));
        drop(end);
        let registers: Vec<Registers> =
            registers.into_iter().map(|writer| writer.join().unwrap()).collect();
        let counter = counters.into_iter().map(|counter| counter.join().unwrap()).sum::<Counter>();
        (registers, counter, twins.join().unwrap(), loads.join().unwrap())
    });
    registers.iter().for_each(|registers| registers.check(&*engine, space));
    counter.check(&*engine, space);
    twins.check(&*engine, space);
    loads.check(&*engine, space);
    histories.check(&*engine, space, test);
    let written: u64 = registers.iter().map(|registers| registers.acknowledged).sum();
    let pairs = twins.acknowledged;
    eprintln!(
        "{written} writes, {pairs} of two rows, {counter:?}, {} loaded rows: all there",
        loads.acknowledged()
    );
    assert!(pairs > 0);
    assert!(written > 0 && counter.acknowledged > 0 && loads.acknowledged() > 0);
}

/// The end of all writers, also where a fault cannot be brought about.
struct End<'a>(&'a AtomicBool);

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[test]
fn a_history_that_no_order_explains_is_found() {
    let event = |call, end, access| Event { call, end, access };
    let set = |from, to, is_stored| Access::CompareAndSet { from, to, is_stored };
    let written = event(0, Some(1), Access::Write(1));
    let reads_none = event(4, Some(5), Access::Read(0));
    assert!(!is_linearizable(&[written, reads_none]), "an acknowledged write is lost");
    let twice = [set(1, 2, Some(true)), set(1, 3, Some(true))];
    let twice = twice.map(|set| event(2, Some(3), set));
    assert!(!is_linearizable(&[&[written], &twice[..]].concat()), "one row is won by two");
    let refused = event(2, Some(3), set(1, 2, Some(false)));
    assert!(!is_linearizable(&[written, refused]), "refused, though the condition holds");
    let in_doubt = event(2, None, set(1, 2, None));
    for (first, second, is_explained) in [(1, 1, true), (1, 2, true), (2, 2, true), (2, 1, false)] {
        let reads = [(4, first), (6, second)];
        let reads = reads.map(|(call, value)| event(call, Some(call + 1), Access::Read(value)));
        let history = [&[written, in_doubt], &reads[..]].concat();
        assert_eq!(is_linearizable(&history), is_explained, "{first}, then {second}");
    }
}

fn seconds(count: u64) {
    thread::sleep(Duration::from_secs(count));
}

#[test]
#[ignore = "takes minutes, and three nodes: make cluster-test"]
fn nothing_acknowledged_is_lost_when_nodes_die_and_stand_still() {
    let _alone = lock(&ALONE);
    let Some(mut nodes) = Nodes::start(3) else { return };
    keeps_what_it_acknowledged("nodes-die-and-stand-still", &mut nodes, |nodes| {
        for node in nodes.nodes().iter() {
            seconds(5);
            eprintln!("{} is killed", node.host());
            node.kill();
            seconds(8);
            node.restart();
            eprintln!("{} is back", node.host());
            seconds(10);
        }
        for node in nodes.nodes().iter().take(1) {
            eprintln!("{} stands still", node.host());
            node.signal(libc::SIGSTOP);
            seconds(60);
            node.signal(libc::SIGCONT);
            eprintln!("{} goes on", node.host());
        }
    });
}

#[test]
#[ignore = "takes minutes, and three nodes: make cluster-test"]
fn nothing_acknowledged_is_lost_when_all_nodes_stand_still() {
    let _alone = lock(&ALONE);
    let Some(mut nodes) = Nodes::start(3) else { return };
    keeps_what_it_acknowledged("all-nodes-stand-still", &mut nodes, |nodes| {
        seconds(5);
        eprintln!("all nodes stand still");
        nodes.nodes().iter().for_each(|node| node.signal(libc::SIGSTOP));
        seconds(60);
        nodes.nodes().iter().for_each(|node| node.signal(libc::SIGCONT));
        eprintln!("all nodes go on");
        seconds(20);
    });
}

#[test]
#[ignore = "takes minutes, and three nodes: make cluster-test"]
fn nothing_acknowledged_is_lost_when_nodes_are_cut_off_and_restarted() {
    let _alone = lock(&ALONE);
    let Some(mut nodes) = Nodes::start(3) else { return };
    keeps_what_it_acknowledged("nodes-are-cut-off-and-restarted", &mut nodes, |nodes| {
        for node in nodes.nodes().iter().take(2) {
            seconds(5);
            let Some(cut) = node.cut_off() else {
                tonnage_testkit::not_run(
                    "a node that is cut off: it takes root and the program ip",
                );
                break;
            };
            eprintln!("{} is cut off", node.host());
            seconds(25);
            drop(cut);
            eprintln!("{} is reached again", node.host());
            seconds(20);
        }
        for node in nodes.nodes().iter() {
            eprintln!("{} is restarted", node.host());
            node.stop();
            node.restart();
            eprintln!("{} is back", node.host());
            seconds(10);
        }
    });
}

#[test]
#[ignore = "takes minutes, and three nodes: make cluster-test"]
fn nothing_acknowledged_is_lost_when_a_disk_is_full() {
    const DISK_BYTES: u64 = 128 << 20;
    let _alone = lock(&ALONE);
    let Some(mut nodes) = Nodes::start(3) else { return };
    let Some(node) = nodes.nodes().get_mut(2) else { return };
    node.stop();
    if !node.move_to_small_disk(DISK_BYTES) {
        tonnage_testkit::not_run("a full disk of a node: it takes root and the program mount");
        return;
    }
    node.restart();
    keeps_what_it_acknowledged("a-disk-is-full", &mut nodes, |nodes| {
        let node = &nodes.nodes()[2];
        seconds(5);
        let full = node.fill_disk();
        eprintln!("the disk of {} is full", node.host());
        seconds(40);
        drop(full);
        node.restart();
        eprintln!("{} has room again, and was restarted", node.host());
        seconds(15);
    });
}

#[test]
#[ignore = "takes minutes, and four nodes: make cluster-test"]
fn nothing_acknowledged_is_lost_when_a_node_joins_and_another_leaves() {
    let _alone = lock(&ALONE);
    let Some(mut nodes) = Nodes::start(3) else { return };
    if nodes.nodes().is_empty() {
        tonnage_testkit::not_run("a node that joins: it takes nodes of this process");
        return;
    }
    keeps_what_it_acknowledged("a-node-joins-and-another-leaves", &mut nodes, |nodes| {
        seconds(5);
        nodes.join();
        eprintln!("a node has joined");
        seconds(20);
        let node = &nodes.nodes()[1];
        node.leave();
        eprintln!("{} has left", node.host());
        node.stop();
        seconds(20);
    });
}
