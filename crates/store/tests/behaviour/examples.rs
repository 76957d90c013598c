//! The examples run, and their own assertions hold.

#[path = "../../examples/bulk_load.rs"]
mod bulk_load;
#[path = "../../examples/bulk_read.rs"]
mod bulk_read;
#[path = "../../examples/child_tables.rs"]
mod child_tables;
#[path = "../../examples/json_index.rs"]
mod json_index;
#[path = "../../examples/large_object.rs"]
mod large_object;
#[path = "../../examples/latest_per_key.rs"]
mod latest_per_key;

#[test]
fn every_example_runs() {
    let examples = [
        bulk_load::main,
        bulk_read::main,
        child_tables::main,
        json_index::main,
        large_object::main,
        latest_per_key::main,
    ];
    for example in examples {
        example().unwrap();
    }
}
