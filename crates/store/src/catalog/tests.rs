//! What DDL does to a store, reopened or not.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tonnage_engine::{
    Condition, Deadline, Durability, Engine, ErrorKind, KeyPart, KeyShape, MemoryEngine, SpaceId,
    WriteBatch,
};

use super::{Catalog, rows};
use crate::codec::KeyOwner;
use crate::ddl::{Statement, parse};
use crate::row::Row;

const PHONES: &str =
    "CREATE TABLE phones (maker STRING, price INTEGER, PRIMARY KEY (SHARD(maker), price))";
const IMAGES: &str =
    "CREATE TABLE phones.images (image INTEGER, bytes BINARY, PRIMARY KEY (image))";

fn engine() -> Arc<dyn Engine> {
    Arc::new(MemoryEngine::new())
}

/// Runs statements; what they say, one line each.
fn run(catalog: &Catalog, sql: &str) -> tonnage_engine::Result<()> {
    for statement in parse(sql)? {
        match statement {
            Statement::CreateTable { definition, if_not_exists } => {
                catalog.create_table(&definition, if_not_exists).map(drop)?
            }
            Statement::DropTable { path, if_exists } => {
                catalog.drop_table(&path, if_exists).map(drop)?
            }
            Statement::AlterTable { path, changes } => {
                catalog.alter_table(&path, &changes).map(drop)?
            }
            Statement::CreateIndex { definition, if_not_exists } => {
                catalog.begin_index(&definition, if_not_exists, Deadline::NONE).map(drop)?
            }
            other => panic!("{other:?}"),
        }
    }
    Ok(())
}

fn paths(catalog: &Catalog) -> Vec<String> {
    catalog.tables().iter().map(|entry| entry.schema.path.clone()).collect()
}

#[test]
fn tables_are_there_after_reopening() {
    let engine = engine();
    let catalog = Catalog::open(engine.clone()).unwrap();
    run(
        &catalog,
        &format!(
            "{PHONES} USING TTL 2 DAYS; {IMAGES}; ALTER TABLE phones ADD stock LONG DEFAULT 5"
        ),
    )
    .unwrap();
    let before: Vec<_> = catalog.tables().iter().map(|entry| entry.schema.clone()).collect();
    let again = Catalog::open(engine).unwrap();
    let after: Vec<_> = again.tables().iter().map(|entry| entry.schema.clone()).collect();
    assert_eq!(before, after);
    assert_eq!(paths(&again), ["phones", "phones.images"]);
    assert_eq!(again.table("PHONES").unwrap().children, ["phones.images"]);
}

#[test]
fn a_missing_table_is_named_with_the_ones_like_it() {
    let catalog = Catalog::open(engine()).unwrap();
    assert!(catalog.table("x").unwrap_err().message().contains("no tables yet"));
    run(&catalog, &format!("{PHONES}; CREATE TABLE ships (id LONG, PRIMARY KEY (id))")).unwrap();
    let error = catalog.table("fones").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
    assert!(
        error.message().contains("fones; did you mean phones?; the tables are phones, ships"),
        "{error}"
    );
}

#[test]
fn names_are_taken_without_regard_to_case() {
    let catalog = Catalog::open(engine()).unwrap();
    run(&catalog, PHONES).unwrap();
    let again = PHONES.replace("phones", "Phones");
    assert_eq!(run(&catalog, &again).unwrap_err().kind(), ErrorKind::Conflict);
    run(&catalog, &again.replace("TABLE", "TABLE IF NOT EXISTS")).unwrap();
    assert_eq!(paths(&catalog), ["phones"]);
    run(&catalog, &IMAGES.replace("phones", "PHONES")).unwrap();
    assert_eq!(paths(&catalog), ["phones", "phones.images"]);
}

#[test]
fn a_table_with_children_is_not_dropped() {
    let catalog = Catalog::open(engine()).unwrap();
    run(&catalog, &format!("{PHONES}; {IMAGES}")).unwrap();
    let error = catalog.drop_table("phones", false).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Conflict);
    assert!(error.message().contains("phones.images"), "{error}");
    assert!(catalog.drop_table("phones.images", false).unwrap());
    assert!(catalog.drop_table("phones", false).unwrap());
    assert!(!catalog.drop_table("phones", true).unwrap());
    assert_eq!(catalog.drop_table("phones", false).unwrap_err().kind(), ErrorKind::NotFound);
}

#[test]
fn dropping_a_top_level_table_drops_its_space() {
    let engine = engine();
    let catalog = Catalog::open(engine.clone()).unwrap();
    run(&catalog, PHONES).unwrap();
    assert_eq!(engine.spaces().unwrap().len(), 2);
    run(&catalog, "DROP TABLE phones").unwrap();
    assert_eq!(engine.spaces().unwrap().len(), 1);
}

#[test]
fn the_number_of_a_dropped_child_table_is_never_used_again() {
    let engine = engine();
    let catalog = Catalog::open(engine.clone()).unwrap();
    run(&catalog, &format!("{PHONES}; {IMAGES}")).unwrap();
    let old = catalog.table("phones.images").unwrap();
    let (mut key, mut value) = (Vec::new(), Vec::new());
    let row = Row::new().with("maker", "Nokia").with("price", 300).with("image", 1);
    old.codec.encode_row(&row, &mut key, &mut value).unwrap();
    assert_eq!(old.classifier.classify(&key).unwrap(), KeyOwner::Table(1));

    run(&catalog, "DROP TABLE phones.images").unwrap();
    assert_eq!(
        catalog.table("phones").unwrap().classifier.classify(&key).unwrap(),
        KeyOwner::Other
    );
    let catalog = Catalog::open(engine).unwrap();
    run(&catalog, IMAGES).unwrap();
    let new = catalog.table("phones.images").unwrap();
    assert_eq!(new.schema.table_id, 2);
    assert_eq!(new.classifier.classify(&key).unwrap(), KeyOwner::Other);
}

#[test]
fn a_space_that_no_row_names_is_cleared_away() {
    let engine = engine();
    engine.create_space("table:phones", &KeyShape::new([KeyPart::Fixed(4)])).unwrap();
    engine.create_space("pairs", &KeyShape::new([KeyPart::Path])).unwrap();
    let catalog = Catalog::open(engine.clone()).unwrap();
    let names: Vec<_> = engine.spaces().unwrap().into_iter().map(|space| space.name).collect();
    assert_eq!(names, ["pairs", "catalog"]);
    engine.create_space("table:phones", &KeyShape::new([KeyPart::Fixed(4)])).unwrap();
    run(&catalog, PHONES).unwrap();
    assert_eq!(
        engine.spaces().unwrap().last().unwrap().shape,
        catalog.table("phones").unwrap().schema.key_shape()
    );
}

fn shared_engine() -> Arc<dyn Engine> {
    Arc::new(MemoryEngine::shared())
}

fn table_spaces(engine: &dyn Engine) -> Vec<String> {
    let names = engine.spaces().unwrap().into_iter().map(|space| space.name);
    names.filter(|name| name.starts_with("table:")).collect()
}

/// Whether a thread ends within a minute. Who holds what it may wait for lets go of that before he
/// asserts anything: a panic in its scope would wait for it.
fn ends<T>(thread: &std::thread::ScopedJoinHandle<'_, T>) -> bool {
    let began = Instant::now();
    while !thread.is_finished() && began.elapsed() < Duration::from_secs(60) {
        std::thread::sleep(Duration::from_millis(10));
    }
    thread.is_finished()
}

/// What is done in the background is done soon.
fn wait_for_spaces(engine: &dyn Engine, wanted: &[&str]) {
    let began = Instant::now();
    while table_spaces(engine) != wanted {
        assert!(began.elapsed() < Duration::from_secs(30), "{:?}", table_spaces(engine));
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Once a process that opened the store dropped the spaces that its catalog did not name: those of
/// tables that another process was just making, with all that was soon to be in them.
#[test]
fn a_shared_store_keeps_the_spaces_that_no_row_names_yet() {
    let engine = shared_engine();
    engine.create_space("table:phones", &KeyShape::new([KeyPart::Fixed(4)])).unwrap();
    let catalog = Catalog::open(engine.clone()).unwrap();
    assert_eq!(table_spaces(&*engine), ["table:phones"]);
    run(&catalog, PHONES).unwrap();
    assert_eq!(table_spaces(&*engine), ["table:phones", "table:phones~2"]);
}

/// Once the process that knew nothing of the table dropped its space, and created one of its own.
#[test]
fn a_table_that_another_process_made_is_known_to_all_who_ask() {
    let engine = shared_engine();
    let [one, other] = [(); 2].map(|()| Catalog::open(engine.clone()).unwrap());
    run(&one, PHONES).unwrap();
    let space = one.table("phones").unwrap().space;
    assert_eq!(run(&other, PHONES).unwrap_err().kind(), ErrorKind::Conflict);
    assert_eq!(other.table("phones").unwrap().space, space);
    assert_eq!(table_spaces(&*engine), ["table:phones"]);
}

#[test]
fn a_table_that_another_process_made_is_found() {
    let engine = shared_engine();
    let [one, other] = [(); 2].map(|()| Catalog::open(engine.clone()).unwrap());
    run(&one, PHONES).unwrap();
    assert_eq!(other.table("phones").unwrap().space, one.table("phones").unwrap().space);
    run(&other, "DROP TABLE phones").unwrap();
    assert_eq!(run(&one, "DROP TABLE phones").unwrap_err().kind(), ErrorKind::NotFound);
    assert_eq!(table_spaces(&*engine), [""; 0]);
}

/// Once the later of two changes undid the earlier one.
#[test]
fn changes_of_two_processes_add_up() {
    let engine = shared_engine();
    let [one, other] = [(); 2].map(|()| Catalog::open(engine.clone()).unwrap());
    run(&one, PHONES).unwrap();
    run(&other, "ALTER TABLE phones ADD stock LONG").unwrap();
    run(&one, "ALTER TABLE phones ADD colour STRING").unwrap();
    run(&other, IMAGES).unwrap();
    run(&one, &IMAGES.replace("images", "marks")).unwrap();
    let last = Catalog::open(engine).unwrap();
    let columns = last.table("phones").unwrap().schema.columns.len();
    assert_eq!((columns, paths(&last).len()), (4, 3));
}

/// The row of a table that someone changed between reading and writing is left alone.
#[test]
fn a_row_that_changed_since_it_was_read_is_not_written_over() {
    let engine = shared_engine();
    let [one, other] = [(); 2].map(|()| Catalog::open(engine.clone()).unwrap());
    run(&one, PHONES).unwrap();
    let space = other.table("phones").unwrap().space;
    let family = other.state().stored(space);
    run(&one, "ALTER TABLE phones ADD stock LONG").unwrap();
    let error = other.commit(&family, &[], Deadline::NONE).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Conflict);
    assert!(error.message().contains("another process changed table phones"), "{error}");
    assert_eq!(other.table("phones").unwrap().schema.columns.len(), 3);
}

/// The story of a bug: a process that took half a minute to create a table, on a cluster that was
/// slow to agree on it, announced meanwhile that it was not there, and then refused to write.
#[test]
fn a_process_that_follows_the_others_does_not_wait_for_its_own_statement() {
    let catalog = Catalog::open(shared_engine()).unwrap();
    let statement = catalog.ddl.lock();
    std::thread::scope(|scope| {
        let following = scope.spawn(|| catalog.follow());
        let is_prompt = ends(&following);
        drop(statement);
        assert!(is_prompt && !following.join().unwrap().unwrap());
    });
    assert!(catalog.follow().unwrap());
}

/// The space of the table, its number in there, and its columns.
fn placed(catalog: &Catalog, path: &str) -> (SpaceId, u32, usize) {
    let table = catalog.table(path).unwrap();
    (table.space, table.schema.table_id, table.schema.columns.len())
}

#[test]
fn a_top_level_table_takes_the_place_of_another() {
    for engine in [engine(), shared_engine()] {
        let catalog = Catalog::open(engine.clone()).unwrap();
        run(&catalog, &format!("{PHONES}; CREATE TABLE fresh (id LONG, PRIMARY KEY (id))"))
            .unwrap();
        let (fresh, ..) = placed(&catalog, "fresh");
        let handle = catalog.table("phones").unwrap();
        catalog.replace_table("PHONES", "fresh").unwrap();
        for catalog in [&catalog, &Catalog::open(engine.clone()).unwrap()] {
            assert_eq!(paths(catalog), ["phones"]);
            assert_eq!(placed(catalog, "phones"), (fresh, 0, 1));
        }
        assert!(handle.indexes.is_dropped(), "a handle of the old table knows that it is gone");
        assert_eq!(table_spaces(&*engine), ["table:fresh"]);
        // Both names are free for new tables.
        run(&catalog, "CREATE TABLE fresh (id LONG, PRIMARY KEY (id)); DROP TABLE phones").unwrap();
        run(&catalog, PHONES).unwrap();
        assert_eq!(paths(&Catalog::open(engine).unwrap()), ["fresh", "phones"]);
    }
}

#[test]
fn a_child_table_takes_the_place_of_another() {
    let engine = engine();
    let catalog = Catalog::open(engine.clone()).unwrap();
    let fresh = IMAGES.replace("images", "fresh").replace(", bytes BINARY", "");
    run(&catalog, &format!("{PHONES}; {IMAGES}; {fresh}")).unwrap();
    let (space, number, columns) = placed(&catalog, "phones.fresh");
    catalog.replace_table("phones.images", "phones.fresh").unwrap();
    for catalog in [&catalog, &Catalog::open(engine).unwrap()] {
        assert_eq!(paths(catalog), ["phones", "phones.images"]);
        assert_eq!(placed(catalog, "phones.images"), (space, number, columns));
        assert_eq!(catalog.table("phones").unwrap().children, ["phones.images"]);
    }
}

#[test]
fn only_tables_side_by_side_take_each_others_place() {
    let catalog = Catalog::open(engine()).unwrap();
    let fresh = "CREATE TABLE fresh (id LONG, PRIMARY KEY (id))";
    run(&catalog, &format!("{PHONES}; {IMAGES}; {fresh}")).unwrap();
    for (old, new, kind) in [
        ("phones", "fresh", ErrorKind::Conflict),
        ("fresh", "phones", ErrorKind::Conflict),
        ("fresh", "phones.images", ErrorKind::Invalid),
        ("fresh", "FRESH", ErrorKind::Invalid),
        ("fresh", "none", ErrorKind::NotFound),
    ] {
        assert_eq!(catalog.replace_table(old, new).unwrap_err().kind(), kind, "{old}, {new}");
    }
    assert_eq!(paths(&catalog), ["fresh", "phones", "phones.images"]);
}

/// The space of a dropped table may disappear at any time while a table of that name is created
/// again: once the creating call failed because there is no such space.
#[test]
fn a_table_is_made_again_while_the_space_of_the_one_before_is_dropped() {
    let engine = engine();
    let catalog = Catalog::open(engine.clone()).unwrap();
    let start = std::sync::Barrier::new(2);
    let shape = KeyShape::new([KeyPart::Fixed(4)]);
    for round in 0..20_000 {
        let left = engine.create_space("table:phones", &shape).unwrap();
        catalog.add_pending_drops(std::iter::once(&left));
        std::thread::scope(|scope| {
            let dropping = scope.spawn(|| {
                start.wait();
                // At another time in each round.
                (0..round % 400).for_each(|_| std::hint::spin_loop());
                catalog.drop_spaces(Some(left), &[], Deadline::NONE);
            });
            start.wait();
            run(&catalog, PHONES).unwrap();
            dropping.join().unwrap();
        });
        run(&catalog, "DROP TABLE phones").unwrap();
        assert_eq!(table_spaces(&*engine), [""; 0]);
    }
}

/// The story of a bug: a load that ended beside DROP INDEX dropped the space of the index at once. A
/// write that had looked its indexes up before then failed: "there is no space with the number 6".
#[test]
fn a_load_that_ends_leaves_a_space_that_a_write_under_way_may_need() {
    let engine = engine();
    let catalog = Catalog::open(engine.clone()).unwrap();
    let left = engine.create_space("table:phones", &KeyShape::new([KeyPart::Fixed(4)])).unwrap();
    let write = catalog.gate().enter();
    catalog.add_pending_drops(std::iter::once(&left));
    catalog.drop_after_load();
    assert_eq!(table_spaces(&*engine), ["table:phones"]);
    drop(write);
    catalog.drop_spaces(Some(left), &[], Deadline::NONE);
    assert_eq!(table_spaces(&*engine), [""; 0]);
}

/// The story of a bug: DROP TABLE with a timeout took the table away, then had no time left for its
/// space. The rows stayed on the disk until the store was opened again.
#[test]
fn a_drop_that_a_deadline_cut_short_is_done_in_the_background() {
    let engine = engine();
    let catalog = Catalog::open(engine.clone()).unwrap();
    let left = engine.create_space("table:phones", &KeyShape::new([KeyPart::Fixed(4)])).unwrap();
    catalog.add_pending_drops(std::iter::once(&left));
    catalog.drop_spaces(Some(left), &[], Deadline::after(Duration::ZERO));
    assert_eq!(table_spaces(&*engine), ["table:phones"]);
    wait_for_spaces(&*engine, &[]);
}

/// The story of a bug: where several processes may use a store, no process ever dropped the space
/// of an index or a table whose drop a crash had cut short.
#[test]
fn what_a_crash_left_of_a_shared_store_goes_with_an_opening_that_is_alone() {
    let engine = shared_engine();
    let catalog = Catalog::open_as_member(engine.clone()).unwrap();
    let shape = KeyShape::new([KeyPart::Fixed(4)]);
    engine.create_space("table:phones", &shape).unwrap();
    let other = Catalog::open_as_member(engine.clone()).unwrap();
    assert_eq!(table_spaces(&*engine), ["table:phones"], "the other may be making it");
    run(&catalog, "CREATE TABLE ships (id LONG, PRIMARY KEY (id))").unwrap();
    drop((catalog, other));
    let alone = Catalog::open_as_member(engine.clone()).unwrap();
    wait_for_spaces(&*engine, &["table:ships"]);
    assert_eq!(paths(&alone), ["ships"]);
}

/// The story of a bug: a process that followed a change waited for its own writes without end, and
/// did not announce meanwhile that it is alive. After a write of half a minute it refused all
/// others.
#[test]
fn a_process_that_follows_the_others_does_not_wait_for_a_long_write() {
    let catalog = Catalog::open(shared_engine()).unwrap();
    let write = catalog.gate().enter();
    std::thread::scope(|scope| {
        let following = scope.spawn(|| catalog.follow());
        let is_prompt = ends(&following);
        drop(write);
        assert!(is_prompt && !following.join().unwrap().unwrap());
    });
    assert!(catalog.follow().unwrap());
}

/// The story of a bug: DROP TABLE with a timeout waited for a write under way without end.
#[test]
fn a_drop_that_a_write_holds_up_is_done_in_the_background() {
    let engine = engine();
    let catalog = Catalog::open(engine.clone()).unwrap();
    run(&catalog, PHONES).unwrap();
    // Late enough that a busy machine has taken the table away by then.
    let (write, soon) = (catalog.gate().enter(), Deadline::after(Duration::from_secs(4)));
    std::thread::scope(|scope| {
        let dropping = scope.spawn(|| catalog.drop_table_by("phones", false, soon).map(drop));
        let is_prompt = ends(&dropping);
        let stays = table_spaces(&*engine) == ["table:phones"];
        drop(write);
        dropping.join().unwrap().unwrap();
        assert!(is_prompt && stays);
    });
    wait_for_spaces(&*engine, &[]);
}

/// The story of a bug: where a bulk put did not come to a flush in good time, the space of a
/// dropped table stayed until that bulk put had ended, however long ago it had flushed.
#[test]
fn the_space_of_a_dropped_table_goes_once_a_load_that_stays_open_has_flushed() {
    let engine = engine();
    let catalog = Catalog::open(engine.clone()).unwrap();
    let left = engine.create_space("table:phones", &KeyShape::new([KeyPart::Fixed(4)])).unwrap();
    let load = catalog.gate().open_load();
    load.pushing().rows_of(left, false);
    catalog.add_pending_drops(std::iter::once(&left));
    catalog.drop_spaces(Some(left), &[], Deadline::after(Duration::ZERO));
    assert_eq!(table_spaces(&*engine), ["table:phones"]);
    load.flushed(load.begin_flush());
    wait_for_spaces(&*engine, &[]);
    drop(load);
}

#[test]
fn a_child_table_needs_its_parent() {
    let catalog = Catalog::open(engine()).unwrap();
    let error = run(&catalog, IMAGES).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
    assert!(
        error.message().contains("phones.images") && error.message().contains("no table phones"),
        "{error}"
    );
}

#[test]
fn a_family_lists_parents_before_children() {
    let catalog = Catalog::open(engine()).unwrap();
    run(&catalog, &format!("{PHONES}; {IMAGES}; CREATE TABLE phones.images.marks (mark LONG, PRIMARY KEY (mark)); CREATE TABLE phones.a (a LONG, PRIMARY KEY (a))")).unwrap();
    let family: Vec<_> = catalog
        .family(catalog.table("phones").unwrap().space)
        .iter()
        .map(|entry| entry.schema.path.clone())
        .collect();
    assert_eq!(family, ["phones", "phones.images", "phones.images.marks", "phones.a"]);
    assert_eq!(catalog.table("phones").unwrap().children, ["phones.images", "phones.a"]);
}

#[test]
fn an_entry_stays_as_it_was_when_its_table_changes() {
    let catalog = Catalog::open(engine()).unwrap();
    run(&catalog, PHONES).unwrap();
    let before = catalog.table("phones").unwrap();
    run(&catalog, "ALTER TABLE phones ADD stock LONG").unwrap();
    assert_eq!(before.schema.columns.len(), 2);
    assert_eq!(catalog.table("phones").unwrap().schema.columns.len(), 3);
}

#[test]
fn only_tables_that_need_a_newer_format_have_it() {
    let format = |sql: &str| {
        let engine = engine();
        let catalog = Catalog::open(engine.clone()).unwrap();
        run(&catalog, sql).unwrap();
        let stored = rows::read(engine.as_ref(), catalog.space).unwrap().remove(0);
        let value: serde_json::Value = serde_json::from_slice(&stored.value().unwrap()).unwrap();
        value["format"].as_u64().unwrap()
    };
    assert_eq!(format("CREATE TABLE t (id LONG, j JSON, u UUID, PRIMARY KEY (id))"), 1);
    assert_eq!(format("CREATE TABLE t (day DATE, PRIMARY KEY (day))"), 3);
    let altered = "CREATE TABLE t (id LONG, e ENUM(a, b), PRIMARY KEY (id)); ALTER TABLE t DROP e";
    assert_eq!(format(altered), 3, "rows from before have the column");
    assert_eq!(format("CREATE TABLE t (a ARRAY(STRING), id LONG, PRIMARY KEY (id))"), 3);
    let numbered = "CREATE TABLE t (id LONG GENERATED ALWAYS AS IDENTITY, PRIMARY KEY (id))";
    assert_eq!(format(numbered), 4);
    assert_eq!(format("CREATE TABLE t (id LONG, n NUMBER(38, 9), PRIMARY KEY (id))"), 1);
    assert_eq!(format("CREATE TABLE t (id LONG, n NUMBER(39), PRIMARY KEY (id))"), 5);
    let nested = "CREATE TABLE t (id LONG, r RECORD(a ARRAY(NUMBER(76))), PRIMARY KEY (id))";
    assert_eq!(format(nested), 5);
    assert_eq!(format(&numbered.replace("PRIMARY", "n NUMBER(50), PRIMARY")), 5);
    assert_eq!(format("CREATE TABLE t (id UUID DEFAULT uuid(), PRIMARY KEY (id))"), 6);
    let table = "CREATE TABLE t (id LONG, j JSON, PRIMARY KEY (id)); CREATE INDEX i ON t";
    assert_eq!(format(&format!("{table} (id, j.a)")), 2);
    assert_eq!(format(&format!("{table} (j.a[].b)")), 8);
    let typed = "CREATE TABLE t (id LONG, r RECORD(a LONG), PRIMARY KEY (id));";
    assert_eq!(format(&format!("{typed} CREATE INDEX i ON t (r.a)")), 8);
}

#[test]
fn a_catalog_that_cannot_be_read_is_refused() {
    for (value, kind) in [
        (&br#"{"format": 9, "tables": "elsewhere"}"#[..], ErrorKind::Unsupported),
        (br#"{"format": 1}"#, ErrorKind::Corruption),
        (b"\xff\xfe", ErrorKind::Corruption),
    ] {
        let engine = engine();
        let space = rows::open_space(engine.as_ref()).unwrap();
        let mut batch = WriteBatch::new(space);
        batch.put(b"a\0\x01a\0\x01", value, 0, Condition::Always);
        engine.write(&batch, Durability::Write).unwrap();
        assert_eq!(Catalog::open(engine).err().unwrap().kind(), kind);
    }
}
