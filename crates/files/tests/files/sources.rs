//! Where records come from, and what happens when the source itself is at fault.

use std::fs;
use std::io::Write;
use std::process::Stdio;

use rstest::rstest;
use tonnage_engine::ErrorKind;
use tonnage_files::{Compression, Format, ReadOptions, RecordReader, Source};
use tonnage_testkit::again;

use crate::common::{csv, gzip, lines, read, small_schema, wanting, written};

const TEXT: &str = "id,name,at\n1,a,\n2,b,\n";

fn open_error(source: &Source) -> tonnage_engine::Error {
    RecordReader::open(source, &ReadOptions::default()).err().expect("an error")
}

#[test]
fn patterns_become_files_in_order() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["b.csv", "a.csv", "c.txt", "[x].csv"] {
        fs::write(folder.path().join(name), TEXT).unwrap();
    }
    fs::create_dir(folder.path().join("d.csv")).unwrap();
    let pattern = |name: &str| folder.path().join(name).display().to_string();
    let sources =
        Source::expand(&[pattern("c.txt"), pattern("?.csv"), pattern("[x].csv"), "-".into()])
            .unwrap();
    let names: Vec<_> =
        sources.iter().map(|source| source.name().rsplit('/').next().unwrap().to_owned()).collect();
    assert_eq!(names, ["c.txt", "a.csv", "b.csv", "[x].csv", "-"]);
}

/// Programs keep checksums, and files that are not whole yet, beside those that are meant, and hide
/// them. A pattern read them too.
#[test]
fn hidden_files_match_only_patterns_that_name_their_point() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join(".old")).unwrap();
    for name in ["a.csv", ".b.csv", ".old/c.csv"] {
        fs::write(folder.path().join(name), TEXT).unwrap();
    }
    let found = |pattern: &str| {
        let pattern = folder.path().join(pattern).display().to_string();
        let sources = Source::expand(&[pattern]).unwrap();
        let name = |source: &Source| source.name().rsplit('/').next().unwrap().to_owned();
        sources.iter().map(name).collect::<Vec<_>>()
    };
    assert_eq!(found("*"), ["a.csv"]);
    assert_eq!(found("**/*.csv"), ["a.csv"]);
    assert_eq!(found(".*.csv"), [".b.csv"]);
    assert_eq!(found(".b.csv"), [".b.csv"]);
}

#[rstest]
#[case::missing("missing.csv", ErrorKind::NotFound)]
#[case::no_match("*.parquet", ErrorKind::NotFound)]
#[case::folder("", ErrorKind::Invalid)]
#[case::bad_pattern("a[", ErrorKind::Invalid)]
fn a_pattern_that_leads_nowhere_is_named(#[case] name: &str, #[case] kind: ErrorKind) {
    let folder = tempfile::tempdir().unwrap();
    let pattern = folder.path().join(name).display().to_string();
    let error = Source::expand(std::slice::from_ref(&pattern)).unwrap_err();
    assert_eq!(error.kind(), kind);
    assert!(error.message().starts_with(&pattern), "{error}");
}

#[rstest]
#[case("x.csv", Format::Csv)]
#[case("x.TSV.gz", Format::Tsv)]
#[case("x.jsonl.zst", Format::JsonLines)]
#[case("x.ndjson", Format::JsonLines)]
#[case("x.json", Format::JsonLines)]
#[case("x.parquet", Format::Parquet)]
fn names_tell_formats(#[case] name: &str, #[case] format: Format) {
    assert_eq!(Format::of_name(name), Some(format));
}

#[test]
fn without_a_telling_name_the_content_decides_packed_or_not() {
    let (batch, _) = read(&csv(TEXT), &wanting(small_schema()));
    // Only the name shows that tabs separate fields.
    for format in Format::WRITTEN.into_iter().filter(|format| *format != Format::Tsv) {
        for compression in [Compression::None, Compression::Gzip, Compression::Zstd] {
            let source = Source::memory("upload", written(format, compression, &batch));
            assert_eq!(Format::detect(&source).unwrap(), format);
            let (again, rejected) = read(&source, &wanting(small_schema()));
            assert_eq!((again, rejected.len()), (batch.clone(), 0), "{format} {compression:?}");
        }
    }
}

#[test]
fn the_two_kinds_of_arrow_are_told_apart_whatever_the_name() {
    let (batch, _) = read(&csv(TEXT), &wanting(small_schema()));
    let source = Source::memory("x.arrow", written(Format::ArrowStream, Compression::None, &batch));
    assert_eq!(read(&source, &ReadOptions::default()).0, batch);
}

#[test]
fn a_gzip_file_of_several_members_is_read_to_its_end() {
    let source = Source::memory("x.csv", [gzip(b"id,name,at\n1,a,\n"), gzip(b"2,b,\n")].concat());
    assert_eq!(lines(&read(&source, &wanting(small_schema())).0), ["1,a,", "2,b,"]);
}

#[rstest]
#[case(Compression::Gzip)]
#[case(Compression::Zstd)]
fn a_packed_file_that_is_cut_short_gives_what_it_has_and_then_an_error(
    #[case] compression: Compression,
) {
    let text: String =
        (0..100_000_u32).map(|id| format!("{id},{},\n", id.wrapping_mul(2_654_435_761))).collect();
    let (batch, _) = read(&csv(format!("id,name,at\n{text}")), &wanting(small_schema()));
    let whole = written(Format::Csv, compression, &batch);
    let source = Source::memory("cut.csv", whole[..whole.len() / 2].to_vec());
    let mut rows = 0;
    let mut error = None;
    for part in RecordReader::open(&source, &wanting(small_schema())).unwrap() {
        match part {
            Ok(part) => {
                assert_eq!(
                    part.batch,
                    batch.slice(rows, part.batch.num_rows()),
                    "half a record is not a record"
                );
                rows += part.batch.num_rows();
            }
            Err(met) => error = Some(met),
        }
    }
    let error = error.expect("an error at the end");
    assert!((10_000..90_000).contains(&rows), "{rows} rows");
    assert_eq!(error.kind(), ErrorKind::Corruption);
    assert!(
        error
            .message()
            .starts_with(&format!("cut.csv: record {rows} (line {}) or later", rows + 2)),
        "{error}"
    );
    assert!(error.message().ends_with("the file is cut short: get it again"), "{error}");
}

#[test]
fn a_gzip_file_that_ends_in_its_head_is_an_error() {
    let error = open_error(&Source::memory("x.csv.gz", gzip(TEXT.as_bytes())[..12].to_vec()));
    assert_eq!(error.kind(), ErrorKind::Corruption);
    assert!(error.message().starts_with("x.csv.gz: "), "{error}");
}

#[rstest]
#[case::garbage(b"this is not a parquet file at all".to_vec())]
#[case::only_magic(b"PAR1PAR1".to_vec())]
#[case::empty(Vec::new())]
fn garbage_called_parquet_is_an_error_that_names_the_file(#[case] bytes: Vec<u8>) {
    let error = open_error(&Source::memory("x.parquet", bytes));
    assert_eq!(error.kind(), ErrorKind::Corruption);
    assert!(error.message().starts_with("x.parquet: is not a readable Parquet file"), "{error}");
}

#[test]
fn damage_inside_a_parquet_file_is_an_error_and_no_panic() {
    let (batch, _) = read(&csv(TEXT), &wanting(small_schema()));
    let whole = written(Format::Parquet, Compression::None, &batch);
    let mut damaged = whole.clone();
    damaged[4..60].fill(0xff);
    let outcome: Vec<_> =
        RecordReader::open(&Source::memory("x.parquet", damaged), &ReadOptions::default())
            .unwrap()
            .collect();
    let error = outcome.last().unwrap().as_ref().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corruption);
    assert!(
        error.message().starts_with("x.parquet: the file is damaged at record 0 or after it"),
        "{error}"
    );
}

#[rstest]
#[case(Format::ArrowFile)]
#[case(Format::ArrowStream)]
fn an_arrow_file_that_is_cut_short_is_an_error(#[case] format: Format) {
    let (batch, _) = read(&csv(TEXT), &wanting(small_schema()));
    let whole = written(format, Compression::None, &batch);
    for bytes in [whole.len() - 9, whole.len() / 2] {
        let source = Source::memory("x.arrow", whole[..bytes].to_vec());
        let outcome = RecordReader::open(&source, &ReadOptions::default())
            .and_then(|reader| reader.collect::<Result<Vec<_>, _>>());
        let error = outcome.expect_err("an error");
        assert_eq!(error.kind(), ErrorKind::Corruption);
        assert!(error.message().starts_with("x.arrow: "), "{error}");
    }
}

#[test]
fn streams_that_were_put_together_are_an_error_rather_than_half_read() {
    let (batch, _) = read(&csv(TEXT), &wanting(small_schema()));
    let stream = written(Format::ArrowStream, Compression::None, &batch);
    let source = Source::memory("x.arrows", [stream.clone(), stream].concat());
    let outcome: Vec<_> = RecordReader::open(&source, &ReadOptions::default()).unwrap().collect();
    assert_eq!(outcome[0].as_ref().unwrap().batch, batch);
    assert!(
        outcome[1]
            .as_ref()
            .unwrap_err()
            .message()
            .contains("something follows the end of the stream")
    );
}

#[test]
fn a_missing_file_is_not_found_and_a_folder_is_no_file() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(open_error(&Source::file(folder.path().join("x.csv"))).kind(), ErrorKind::NotFound);
    assert_eq!(open_error(&Source::file(folder.path())).kind(), ErrorKind::Invalid);
}

#[cfg(target_os = "linux")]
#[test]
fn a_file_that_opens_but_cannot_be_read_is_an_error_that_names_it() {
    // The memory of a process has nothing at address zero: reading there fails even for the
    // superuser.
    let error = open_error(&Source::file("/proc/self/mem"));
    assert!(error.message().starts_with("/proc/self/mem: cannot be read"), "{error}");
}

#[test]
fn progress_comes_to_the_size_of_the_packed_source() {
    let packed = gzip(TEXT.as_bytes());
    let mut reader =
        RecordReader::open(&Source::memory("x.csv.gz", packed.clone()), &ReadOptions::default())
            .unwrap();
    let progress = reader.progress();
    assert!(reader.by_ref().all(|batch| batch.is_ok()));
    assert_eq!(
        (progress.bytes_read(), progress.bytes_total()),
        (packed.len() as u64, Some(packed.len() as u64))
    );
}

/// The commas of a file below a folder that is called so were taken for text.
#[test]
fn the_ending_of_a_folder_says_nothing_of_its_files() {
    for (name, text) in [
        ("x.tsv/a.csv", TEXT.to_owned()),
        ("x.tsv/a.csv.gz", TEXT.to_owned()),
        ("x.csv/a.tsv", TEXT.replace(',', "\t")),
        ("a.TSV", TEXT.replace(',', "\t")),
    ] {
        let (batch, _) = read(&Source::memory(name, text.into_bytes()), &wanting(small_schema()));
        assert_eq!(lines(&batch), ["1,a,", "2,b,"], "{name}");
    }
}

/// What is not UTF-8 in the name of a folder became the replacement character, in every row.
#[test]
fn the_names_of_folders_are_utf8() {
    let options = ReadOptions { folders: true, ..ReadOptions::default() };
    let of_name =
        |name: &str| RecordReader::open(&Source::memory(name, TEXT.as_bytes().to_vec()), &options);
    assert!(of_name("town=%C3%A9/a.csv").is_ok());
    for name in ["town=%E9/a.csv", "t%E9=x/a.csv"] {
        let error = of_name(name).err().expect("an error");
        assert_eq!(error.kind(), ErrorKind::Invalid);
        assert!(error.message().contains("is not named in UTF-8"), "{error}");
    }
}

/// Set in the child process that reads its standard input.
const CHILD: &str = "TONNAGE_FILES_TEST_CHILD";

#[rstest]
#[case(Format::Csv, Compression::None)]
#[case(Format::JsonLines, Compression::Gzip)]
#[case(Format::Parquet, Compression::None)]
fn standard_input_is_read_in_any_format(#[case] format: Format, #[case] compression: Compression) {
    let (batch, _) = read(&csv(TEXT), &wanting(small_schema()));
    let mut child = again("sources::reads_standard_input_as_a_child")
        .env(CHILD, "1")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(&written(format, compression, &batch)).unwrap();
    let output = String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap();
    assert!(output.contains("read: 1,a, 2,b,"), "{output}");
}

#[test]
fn reads_standard_input_as_a_child() {
    if std::env::var_os(CHILD).is_none() {
        return;
    }
    let sources = Source::expand(&["-".into()]).unwrap();
    println!("read: {}", lines(&read(&sources[0], &wanting(small_schema())).0).join(" "));
}
