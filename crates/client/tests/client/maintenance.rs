//! Figures, checks and backups.

use tonnage::{ErrorKind, Store};
use tonnage_client::{ClientOptions, RemoteStore};
use tonnage_server::{Server, Settings, ShutdownHandle};

use crate::support::{BulkCalls, Running, ships};

#[test]
fn figures_and_a_check_are_those_of_the_store() {
    let server = Running::new();
    let client = server.client();
    client.put_batches("ships", [Ok(ships(0..100))], &Default::default()).unwrap();
    assert_eq!(client.statistics().unwrap(), server.store.statistics().unwrap());
    assert_eq!(client.check().unwrap(), server.store.check().unwrap());
    let (report, repaired) = client.check_and_repair().unwrap();
    assert_eq!((report.is_sound(), repaired.entries), (true, 0));
}

/// Backups are of stores on disk.
#[test]
fn a_store_is_backed_up_into_a_directory_of_its_server() {
    let place = tempfile::tempdir().unwrap();
    let store = Store::builder(place.path().join("store").display().to_string()).open().unwrap();
    store.execute("CREATE TABLE ships (id LONG, name STRING, PRIMARY KEY (id))").unwrap();
    let settings = Settings {
        http: Some("off".into()),
        flight: Some("127.0.0.1:0".into()),
        backups: Some(place.path().join("backups")),
        ..Settings::default()
    };
    let server = Server::open(store, settings.resolve().unwrap()).unwrap();
    let (address, stop) = (server.addresses().flight.unwrap(), ShutdownHandle::default());
    let stopped = stop.clone();
    let running = std::thread::spawn(move || server.run(&stopped));
    let client =
        RemoteStore::connect(&format!("grpc://{address}"), ClientOptions::default()).unwrap();
    client.put_batches("ships", [Ok(ships(0..1_000))], &Default::default()).unwrap();
    let made = client.backup("nightly", false).unwrap();
    assert_eq!(made.info.number, 1);
    assert!(place.path().join("backups/nightly").is_dir());
    assert_eq!(client.backup("nightly", true).unwrap().info.number, 2);
    assert_eq!(client.list_backups("nightly").unwrap()[0], made.info);
    let verified = client.verify_backups("nightly", None).unwrap();
    assert_eq!((verified.backups.as_slice(), verified.is_sound()), (&[1, 2][..], true));
    assert_eq!(client.prune_backups("nightly", 1).unwrap().removed, [1]);
    let error = client.backup("../elsewhere", false).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid, "{error}");
    stop.stop();
    running.join().unwrap().unwrap();
}
