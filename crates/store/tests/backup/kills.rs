//! Backups and restores that are killed at random times.

use std::fs;
use std::process::Stdio;
use std::time::Duration;

use tonnage::{BackupOptions, BackupRepository, Cancel, RestoreOptions};
use tonnage_testkit::{Random, again, kill_after, kill_rounds};

use crate::common::builder;
use crate::place::{Place, backup, open, pairs, put, text};

const PLACE: &str = "TONNAGE_BACKUP_PLACE";
/// In which children are killed.
const PLACES: i64 = 3;
/// How many children are killed that restore.
const RESTORES: i64 = 15;

/// Runs a test as a child that works on a place, and kills it after a while. Returns whether it was
/// still at work.
fn run_and_kill(test: &str, place: &Place, life: Duration) -> bool {
    let mut child = again(test);
    child.env(PLACE, place.0.path()).stdout(Stdio::null()).stderr(Stdio::null());
    kill_after(&mut child.spawn().unwrap(), life)
}

/// Puts pairs and makes backups until it is killed; every backup is of one more pair.
fn play_backups() {
    let Ok(place) = std::env::var(PLACE) else { return };
    let store = builder(&format!("{place}/store")).open().unwrap();
    let repository = BackupRepository::open_or_create(format!("{place}/backups").as_ref()).unwrap();
    for at in pairs(&store).len() as u32.. {
        put(&store, &format!("{at:06}"), &vec![at as u8; 40_000]);
        let copy_always = at.is_multiple_of(2);
        store.backup(&repository, &BackupOptions { copy_always, ..Default::default() }).unwrap();
    }
}

#[test]
fn a_backup_that_is_killed_is_whole_or_none_and_the_next_one_goes_on() {
    play_backups();
    let (mut random, mut made) = (Random(7), 0);
    for (number, longer) in kill_rounds(PLACES) {
        if number >= PLACES && made > 3 {
            break;
        }
        let place = Place::new();
        for _ in 0..6 {
            let life = Duration::from_millis(100 + random.below(500)) * longer;
            assert!(run_and_kill(
                "kills::a_backup_that_is_killed_is_whole_or_none_and_the_next_one_goes_on",
                &place,
                life
            ));
            if !place.at("backups/TONNAGE-BACKUPS").exists() {
                continue;
            }
            let report = place.repository().verify(None, &Cancel::new()).unwrap();
            assert!(report.is_sound(), "{report:?}");
            let listed = place.repository().list().unwrap();
            let Some(last) = listed.last() else { continue };
            let found = place.restored(Some(last.number));
            let values = found.values().enumerate();
            values.for_each(|(at, value)| assert_eq!(*value, vec![at as u8; 40_000]));
            assert!(found.len() >= listed.len(), "each backup has one pair more");
            made += 1;
        }
        let store = builder(&text(&place.at("store"))).open().unwrap();
        backup(&store, &place.repository());
        assert_eq!(place.restored(None), pairs(&store));
        place.repository().prune(1).unwrap();
        let has_partial = place.files().iter().any(|file| text(file).ends_with(".partial"));
        assert!(!has_partial);
        assert_eq!(place.restored(None), pairs(&store));
    }
    assert!(made > 3, "the children hardly ran: {made}");
}

fn play_restores() {
    let Ok(place) = std::env::var(PLACE) else { return };
    let repository = BackupRepository::open(format!("{place}/backups").as_ref()).unwrap();
    let target = format!("{place}/target");
    loop {
        // What an earlier round has restored is whole: away with it.
        if fs::exists(format!("{target}/TONNAGE")).unwrap() {
            fs::rename(&target, format!("{place}/away")).unwrap();
            fs::remove_dir_all(format!("{place}/away")).unwrap();
        }
        repository.restore(None, target.as_ref(), &RestoreOptions::default()).unwrap();
    }
}

#[test]
fn a_restore_that_is_killed_leaves_no_store_or_a_whole_one() {
    play_restores();
    let place = Place::new();
    let store = place.store(2);
    (0..100).for_each(|at| put(&store, &format!("{at:03}"), &[at; 100_000]));
    backup(&store, &place.repository());
    let (mut random, target, mut restored) = (Random(3), place.at("target"), 0);
    for (number, longer) in kill_rounds(RESTORES) {
        if number >= RESTORES && restored > 0 {
            break;
        }
        let life = Duration::from_millis(20 + random.below(250)) * longer;
        assert!(run_and_kill(
            "kills::a_restore_that_is_killed_leaves_no_store_or_a_whole_one",
            &place,
            life
        ));
        let _ = fs::remove_dir_all(place.at("away"));
        if target.join("TONNAGE").exists() {
            assert_eq!(pairs(&open(&target)), pairs(&store));
            // Whatever is there after the next kill, the next child has restored.
            fs::remove_dir_all(&target).unwrap();
            restored += 1;
        }
    }
    assert!(restored > 0, "the children hardly ran");
    if !target.join("TONNAGE").exists() {
        place.repository().restore(None, &target, &RestoreOptions::default()).unwrap();
    }
    assert_eq!(pairs(&open(&target)), pairs(&store));
    assert!(open(&target).check().unwrap().is_sound());
}
