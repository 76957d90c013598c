//! Several operations on one shard key, all together or not at all.

use rstest::rstest;
use tonnage::{Condition, ErrorKind, RowOperation, WriteOptions, WriteResult};

use crate::common::Backend::{self, Memory, RocksDb};
use crate::common::shop::{self, image, image_key, phone, phone_key};
use crate::common::{all_rows, assert_error, failure, row};

fn write(store: &tonnage::Store, operations: &[RowOperation]) -> tonnage::Result<WriteResult> {
    store.atomic_write(operations, &WriteOptions::default())
}

#[rstest]
fn parent_and_child_rows_are_written_together(#[values(Memory, RocksDb)] on: Backend) {
    let store = shop::empty(on);
    let written = write(
        &store,
        &[
            RowOperation::put("phones", phone("Nokia", 1, 1)),
            RowOperation::put("phones.images", image("Nokia", 1, 1, 1)),
            RowOperation::put("phones.images", image("Nokia", 2, 7, 1)),
        ],
    );
    let version = written.unwrap().version().unwrap();
    assert_eq!(all_rows(&store, "phones"), [phone("Nokia", 1, 1)]);
    assert_eq!(
        all_rows(&store, "phones.images"),
        [image("Nokia", 1, 1, 1), image("Nokia", 2, 7, 1)]
    );
    assert_eq!(
        store.table("phones").unwrap().get(&phone_key("Nokia", 1, 1)).unwrap().unwrap().version,
        version
    );
}

#[rstest]
fn puts_and_deletes_mix_and_the_later_of_two_on_one_key_decides(
    #[values(Memory, RocksDb)] on: Backend,
) {
    let store = shop::empty(on);
    write(
        &store,
        &[
            RowOperation::put("phones", phone("Nokia", 1, 1)),
            RowOperation::put("phones.images", image("Nokia", 1, 1, 1)),
        ],
    )
    .unwrap();
    let operations = [
        RowOperation::delete("phones.images", image_key("Nokia", 1, 1, 1)),
        RowOperation::put("phones", phone("Nokia", 2, 2)),
        RowOperation::delete("phones", phone_key("Nokia", 2, 2)),
        RowOperation::delete("phones", phone_key("Nokia", 1, 1)),
        RowOperation::put("phones", phone("Nokia", 1, 1)),
    ];
    assert!(write(&store, &operations).unwrap().is_stored());
    assert_eq!(all_rows(&store, "phones"), [phone("Nokia", 1, 1)]);
    assert!(all_rows(&store, "phones.images").is_empty());
}

#[rstest]
fn a_condition_that_does_not_hold_leaves_nothing_behind(#[values(Memory, RocksDb)] on: Backend) {
    let store = shop::empty(on);
    let version = store
        .table("phones")
        .unwrap()
        .put(&phone("Nokia", 1, 1), &WriteOptions::default())
        .unwrap();
    for (condition, current) in
        [(Condition::IfAbsent, Some(version)), (Condition::IfVersion(version + 1), Some(version))]
    {
        let operations = [
            RowOperation::put("phones", phone("Nokia", 2, 2)),
            RowOperation::put("phones.images", image("Nokia", 1, 1, 1)),
            RowOperation::put("phones", phone_key("Nokia", 1, 1).with("name", "new"))
                .when(condition),
        ];
        assert_eq!(
            write(&store, &operations).unwrap(),
            WriteResult::ConditionFailed { operation: 2, current }
        );
    }
    let missing = [
        RowOperation::put("phones", phone("Nokia", 2, 2)),
        RowOperation::delete("phones.images", image_key("Nokia", 1, 1, 1))
            .when(Condition::IfPresent),
    ];
    assert_eq!(
        write(&store, &missing).unwrap(),
        WriteResult::ConditionFailed { operation: 1, current: None }
    );
    assert_eq!(all_rows(&store, "phones"), [phone("Nokia", 1, 1)]);
    assert!(all_rows(&store, "phones.images").is_empty());
}

#[rstest]
fn rows_of_another_shard_key_are_refused(#[values(Memory, RocksDb)] on: Backend) {
    let store = shop::empty(on);
    let operations = [
        RowOperation::put("phones", phone("Nokia", 1, 1)),
        RowOperation::put("phones", phone("Apple", 1, 1)),
    ];
    assert_error(failure(write(&store, &operations)), ErrorKind::Invalid, &["shard key"]);
    assert!(all_rows(&store, "phones").is_empty());
}

#[rstest]
fn rows_of_another_family_are_refused_naming_both_tables(#[values(Memory, RocksDb)] on: Backend) {
    let store = shop::empty(on);
    store.execute("CREATE TABLE makers (maker STRING, PRIMARY KEY (maker))").unwrap();
    let operations = [
        RowOperation::put("phones", phone("Nokia", 1, 1)),
        RowOperation::put("makers", row! { "maker" => "Nokia" }),
    ];
    assert_error(failure(write(&store, &operations)), ErrorKind::Invalid, &["phones", "makers"]);
    assert!(all_rows(&store, "phones").is_empty());
}

#[rstest]
fn an_operation_that_does_not_fit_is_named_by_its_number(#[values(Memory, RocksDb)] on: Backend) {
    let store = shop::empty(on);
    let operations = [
        RowOperation::put("phones", phone("Nokia", 1, 1)),
        RowOperation::put("phones", row! { "maker" => "Nokia" }),
    ];
    assert_error(
        failure(write(&store, &operations)),
        ErrorKind::Invalid,
        &["operation 1", "price"],
    );
    let operations = [
        RowOperation::put("phones", phone("Nokia", 1, 1)),
        RowOperation::put("fones", phone("Nokia", 1, 1)),
    ];
    assert_error(failure(write(&store, &operations)), ErrorKind::NotFound, &["fones"]);
    assert_error(failure(write(&store, &[])), ErrorKind::Invalid, &["at least one operation"]);
    assert!(all_rows(&store, "phones").is_empty());
}
