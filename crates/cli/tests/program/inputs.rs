//! Every kind of input in every wrapping: all rows, or an error that names the position.
//!
//! A cell of the table is one kind of input, into a table that is there or with `--create`. Each is
//! tried six times: plain, with gzip and with Zstandard, as a file and as a pipe. All six must end
//! alike. `docs/inputs.md` shows the outcomes; `TONNAGE_INPUTS=write` writes it anew.

use std::fmt::Write as _;
use std::io::{Cursor, Write as _};
use std::sync::Arc;
use std::time::{Duration, Instant};

use arrow::array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use tonnage_files::{Compression, Format, RecordWriter};
use tonnage_testkit::make_fifo;

use crate::common::{Place, Run};

/// Long enough for a machine with other things to do.
const PATIENCE: Duration = Duration::from_secs(60);

const PAGE: &str = "../../docs/inputs.md";

const HEAD: &str = "\
# What becomes of an input

This page is for those who wonder what `tonnage load` does with a file. A test tries each input plain,
with gzip and with Zstandard, as a file and as a pipe: the outcome is the same. The test writes this
page (`TONNAGE_INPUTS=write cargo test --release -p tonnage-cli --test program inputs`).

The files have the columns `id` and `v` and three records, unless the table says otherwise. The table
is `t (id LONG, v STRING, PRIMARY KEY (id))`, or is made with `--create --primary-key id`. The number
in brackets is the exit code.

| input | into a table | with `--create` |
|---|---|---|
";

/// An input: what it is called, the name of its file, and its bytes.
struct Input {
    what: &'static str,
    name: &'static str,
    bytes: Vec<u8>,
}

fn input(what: &'static str, name: &'static str, bytes: impl Into<Vec<u8>>) -> Input {
    Input { what, name, bytes: bytes.into() }
}

fn columns(format: Format) -> Vec<u8> {
    let columns: [(&str, ArrayRef); 2] = [
        ("id", Arc::new(Int64Array::from(vec![1, 2, 3]))),
        ("v", Arc::new(StringArray::from(vec!["a", "b", "c"]))),
    ];
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let mut writer =
        RecordWriter::new(format, Vec::new(), batch.schema(), Compression::None).unwrap();
    writer.write(&batch).unwrap();
    writer.finish().unwrap()
}

/// An Avro container: all lengths in it are below 64 but that of its schema, which is below 8,192.
fn avro(codec: &str) -> Vec<u8> {
    let schema = r#"{"type":"record","name":"r","fields":[{"name":"id","type":"long"},{"name":"v","type":"string"}]}"#;
    let text = |text: &str| {
        let length = 2 * text.len() as u16;
        let [low, high] = [length as u8 & 0x7f | 0x80, (length >> 7) as u8];
        let length = if text.len() < 64 { vec![length as u8] } else { vec![low, high] };
        [length, text.as_bytes().to_vec()].concat()
    };
    let sync = [7; 16];
    let entries = ["avro.schema", schema, "avro.codec", codec].map(text).concat();
    let block = b"\x02\x02a\x04\x02b\x06\x02c";
    let block = [&[6, 2 * block.len() as u8][..], block, &sync].concat();
    [b"Obj\x01\x04".to_vec(), entries, vec![0], sync.to_vec(), block].concat()
}

/// The rows of the other inputs, packed by xz.
const XZ: &[u8] = include_bytes!("rows.csv.xz");

/// They as cells of a sheet.
const CELLS: &str = "<row r=\"1\"><c t=\"inlineStr\"><is><t>id</t></is></c>\
    <c t=\"inlineStr\"><is><t>v</t></is></c></row>\
    <row r=\"2\"><c><v>1</v></c><c t=\"inlineStr\"><is><t>a</t></is></c></row>\
    <row r=\"3\"><c><v>2</v></c><c t=\"inlineStr\"><is><t>b</t></is></c></row>\
    <row r=\"4\"><c><v>3</v></c><c t=\"inlineStr\"><is><t>c</t></is></c></row>";

fn zip(members: &[(&str, &str)]) -> Vec<u8> {
    let mut writer = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (name, text) in members {
        writer.start_file(*name, zip::write::SimpleFileOptions::default()).unwrap();
        writer.write_all(text.as_bytes()).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

/// A workbook with sheets of these rows.
fn workbook(sheets: &[&str]) -> Vec<u8> {
    const RELATED: &str = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
    let (mut named, mut related, mut parts) = (String::new(), String::new(), Vec::new());
    for (id, rows) in sheets.iter().enumerate() {
        write!(named, "<sheet name=\"S{id}\" sheetId=\"{id}\" r:id=\"r{id}\"/>").unwrap();
        write!(
            related,
            "<Relationship Id=\"r{id}\" Type=\"{RELATED}/worksheet\" Target=\"worksheets/{id}.xml\"/>"
        )
        .unwrap();
        let sheet = format!("<worksheet><sheetData>{rows}</sheetData></worksheet>");
        parts.push((format!("xl/worksheets/{id}.xml"), sheet));
    }
    let book = format!("<workbook xmlns:r=\"{RELATED}\"><sheets>{named}</sheets></workbook>");
    parts.push(("xl/workbook.xml".to_owned(), book));
    let related = format!("<Relationships>{related}</Relationships>");
    parts.push(("xl/_rels/workbook.xml.rels".to_owned(), related));
    let root = format!(
        "<Relationships><Relationship Id=\"r\" Type=\"{RELATED}/officeDocument\" Target=\"xl/workbook.xml\"/></Relationships>"
    );
    parts.push(("_rels/.rels".to_owned(), root));
    let parts: Vec<_> = parts.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    zip(&parts)
}

fn cut(mut bytes: Vec<u8>) -> Vec<u8> {
    bytes.truncate(bytes.len() / 2);
    bytes
}

/// Half of a byte is turned, from a place on.
fn damaged(mut bytes: Vec<u8>, from: usize) -> Vec<u8> {
    bytes.iter_mut().skip(from).take(16).for_each(|byte| *byte ^= 0x5a);
    bytes
}

fn utf16(text: &str, mark: bool) -> Vec<u8> {
    let mark = mark.then_some(0xfeff);
    mark.into_iter().chain(text.encode_utf16()).flat_map(u16::to_le_bytes).collect()
}

fn inputs() -> Vec<Input> {
    let csv = "id,v\n1,a\n2,b\n3,c\n";
    let objects = "{\"id\":1,\"v\":\"a\"}\n{\"id\":2,\"v\":\"b\"}\n{\"id\":3,\"v\":\"c\"}\n";
    let array = format!("[{}]\n", objects.trim_end().replace('\n', ",\n"));
    vec![
        input("CSV", "a.csv", csv),
        input("CSV with a byte order mark", "a.csv", format!("\u{feff}{csv}")),
        input("CSV with CRLF", "a.csv", csv.replace('\n', "\r\n")),
        input("CSV without its last line end", "a.csv", csv.trim_end()),
        input("CSV with blank lines", "a.csv", csv.replace('\n', "\n\n")),
        input("CSV whose name says nothing", "a.data", csv),
        input("CSV with tabs, .tsv", "a.tsv", csv.replace(',', "\t")),
        input("CSV with semicolons", "a.csv", csv.replace(',', ";")),
        input("CSV in UTF-16 with a mark", "a.csv", utf16(csv, true)),
        input("CSV in UTF-16 without a mark", "a.csv", utf16(csv, false)),
        input("CSV in UTF-16 without a mark, mostly not ASCII", "a.csv", {
            utf16(&format!("id,v\n1,{}\n", "é🚢".repeat(20)), false)
        }),
        input("CSV in UTF-16 with half a character", "a.csv", {
            let mut bytes = utf16(csv, true);
            let place = bytes.iter().position(|byte| *byte == b'b').unwrap();
            bytes[place..place + 2].copy_from_slice(&[0x00, 0xd8]);
            bytes
        }),
        input("CSV in Latin-1", "a.csv", b"id,v\n1,a\n2,caf\xe9\n3,c\n".as_slice()),
        input("CSV with carriage returns alone", "a.csv", csv.replace('\n', "\r")),
        input("a header alone", "a.csv", "id,v\n"),
        input("CSV with a record too short and one too long", "a.csv", "id,v\n1,a\n2\n3,c,d\n"),
        input("CSV with a quote that is never closed", "a.csv", "id,v\n1,a\n2,\"b\n3,c\n"),
        input("CSV with text behind a quote", "a.csv", "id,v\n1,a\n2,\"b\"x\n3,c\n"),
        input("CSV with a column twice", "a.csv", "id,v,v\n1,a,b\n"),
        input("CSV without the key", "a.csv", "v\na\n"),
        input("CSV with another column", "a.csv", "id,v,w\n1,a,b\n"),
        input("CSV with a dot in a name", "a.csv", "id,v.w\n1,a\n"),
        input("CSV with text for a number", "a.csv", "id,v\n1,a\nx,b\n3,c\n"),
        input("CSV with a key that is missing", "a.csv", "id,v\n1,a\n,b\n3,c\n"),
        input("CSV with a key twice", "a.csv", "id,v\n1,a\n1,b\n3,c\n"),
        input("CSV with a NUL in a value", "a.csv", "id,v\n1,a\n2,\0\n3,c\n"),
        input("CSV that is called .jsonl", "a.jsonl", csv),
        input("CSV that is called .parquet", "a.parquet", csv),
        input("JSON lines", "a.jsonl", objects),
        input("JSON lines whose name says nothing", "a.data", objects),
        input("JSON lines that are called .csv", "a.csv", objects),
        input("JSON lines with a broken one", "a.jsonl", objects.replace(":2", ":")),
        input(
            "JSON lines with a member twice",
            "a.jsonl",
            objects.replace("\"b\"", "\"b\",\"id\":2"),
        ),
        input("JSON lines, the last cut short", "a.jsonl", &objects[..objects.len() - 6]),
        input("JSON objects over several lines", "a.json", objects.replace(',', ",\n")),
        input("a JSON array", "a.json", array.clone()),
        input("a JSON array that is cut short", "a.json", &array[..array.len() - 8]),
        input("an empty JSON array", "a.json", "[]"),
        input("a JSON array of numbers", "a.json", "[1,2]"),
        input("JSON lines of arrays", "a.jsonl", "[1,\"a\"]\n[2,\"b\"]\n"),
        input("an array in a JSON document", "a.json", format!("{{\"rows\":{array}}}")),
        input(
            "an array in a JSON document on one line",
            "a.json",
            format!("{{\"rows\":{}}}\n", array.replace('\n', "")),
        ),
        input("a JSON number", "a.json", "17"),
        input("an empty JSON object", "a.json", "{}"),
        input(
            "JSON nested 200 deep",
            "a.jsonl",
            format!("{{\"id\":1,\"v\":{}{}}}", "[".repeat(200), "]".repeat(200)),
        ),
        input("Parquet", "a.parquet", columns(Format::Parquet)),
        input("Parquet whose name says nothing", "a.data", columns(Format::Parquet)),
        input("Parquet that is cut short", "a.parquet", cut(columns(Format::Parquet))),
        input("Parquet with damaged pages", "a.parquet", damaged(columns(Format::Parquet), 20)),
        input("an Arrow file", "a.arrow", columns(Format::ArrowFile)),
        input("an Arrow stream", "a.arrows", columns(Format::ArrowStream)),
        input("an Arrow file that is cut short", "a.arrow", cut(columns(Format::ArrowFile))),
        input(
            "an Arrow stream with a damaged schema",
            "a.arrows",
            damaged(columns(Format::ArrowStream), 24),
        ),
        input("an Avro file", "a.avro", avro("null")),
        input("an Avro file whose name says nothing", "a.data", avro("null")),
        input("an Avro file that is cut short", "a.avro", {
            let mut bytes = avro("null");
            bytes.truncate(bytes.len() - 20);
            bytes
        }),
        input("an Avro file with a damaged block", "a.avro", {
            let mut bytes = avro("null");
            let last = bytes.len() - 18;
            bytes[last - 8..last].fill(0xff);
            bytes
        }),
        input("an Avro file of another codec", "a.avro", avro("bzip2")),
        input("nothing", "a.csv", ""),
        input("a line end", "a.csv", "\n"),
        input("blanks", "a.csv", " \n \n"),
        input("xz", "a.data", XZ),
        input("xz that is cut short", "a.data", &XZ[..XZ.len() - 8]),
        input("a zip archive with one file", "a.zip", zip(&[("rows.csv", csv)])),
        input("a zip archive with two files", "a.zip", zip(&[("a.csv", csv), ("b.csv", csv)])),
        input("a zip archive that is cut short", "a.zip", cut(zip(&[("rows.csv", csv)]))),
        input("an Excel workbook", "a.xlsx", workbook(&[CELLS])),
        input("an Excel workbook with an empty sheet", "a.xlsx", workbook(&["", CELLS])),
        input("an Excel workbook with two sheets", "a.xlsx", workbook(&[CELLS, CELLS])),
        input(
            "an Excel workbook with text for a number",
            "a.xlsx",
            workbook(&[&CELLS.replace("<v>2</v>", "<f>1/0</f><v>#DIV/0!</v>")]),
        ),
        input(
            "an Excel workbook with a formula without a value",
            "a.xlsx",
            workbook(&[&CELLS.replace("<v>2</v>", "<f>1+1</f><v></v>")]),
        ),
        input(
            "an Excel workbook with a cell behind the last name",
            "a.xlsx",
            workbook(&[&CELLS.replace("<v>2</v></c>", "<v>2</v></c><c><v>7</v></c>")]),
        ),
        input("an Excel workbook that is cut short", "a.xlsx", cut(workbook(&[CELLS]))),
        input("an OpenDocument file", "a.ods", zip(&[("content.xml", "<x/>")])),
        input("an old Excel workbook, damaged", "a.xls", b"\xd0\xcf\x11\xe0\xa1\xb1".as_slice()),
        input("an HTML page", "a.csv", "<!DOCTYPE html><html><body>404</body></html>"),
    ]
}

fn packed(bytes: &[u8], compression: Compression) -> Vec<u8> {
    match compression {
        Compression::None => bytes.to_vec(),
        Compression::Gzip => {
            let mut encoder =
                flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
            encoder.write_all(bytes).unwrap();
            encoder.finish().unwrap()
        }
        _ => zstd::encode_all(bytes, 1).unwrap(),
    }
}

/// How a run ended, in a few words: rows, rejected records, or the reason.
fn outcome(run: &Run, name: &str) -> String {
    let told = &run.err;
    assert!(!told.contains("panicked") && !told.contains("defect"), "{name}: {told}");
    assert!(
        !told.chars().any(|char| char.is_control() && !matches!(char, '\n' | '\t')),
        "{name}: control characters in {told:?}"
    );
    if run.code > 1 {
        let last = told
            .lines()
            .rfind(|line| line.starts_with("tonnage: "))
            .unwrap_or_else(|| panic!("{name}: {told}"));
        let reason = last.trim_start_matches("tonnage: ");
        return format!("{reason} ({})", run.code);
    }
    let counts = told
        .lines()
        .rfind(|line| line.starts_with("t: "))
        .unwrap_or_else(|| panic!("{name}: {told}"));
    let count = |what: &str| -> u64 {
        let before = counts.split(&format!(" {what}")).next().unwrap();
        before.rsplit(' ').next().unwrap().replace(',', "").parse().unwrap()
    };
    let [read, inserted, existed, failed] = ["read", "inserted", "existed", "failed"].map(count);
    assert_eq!(read, inserted + existed + failed, "{name}: {counts}");
    assert_eq!(run.code == 1, failed > 0, "{name}: {told}");
    let mut told_of = format!("{inserted} rows");
    if existed > 0 {
        write!(told_of, ", {existed} existed").unwrap();
    }
    if failed > 0 {
        let first = told.lines().find_map(|line| line.strip_prefix("rejected: ")).unwrap();
        write!(told_of, ", {failed} rejected: {first}").unwrap();
    }
    format!("{told_of} ({})", run.code)
}

/// The cell of the page: the six outcomes, if they are one.
fn cell(place: &Place, number: usize, input: &Input, create: bool) -> String {
    let mut outcomes: Vec<(String, String)> = Vec::new();
    for compression in [Compression::None, Compression::Gzip, Compression::Zstd] {
        for is_pipe in [false, true] {
            let ending = match compression {
                Compression::None => "",
                Compression::Gzip => ".gz",
                _ => ".zst",
            };
            let folder = format!("{number}-{create}-{is_pipe}{ending}");
            let (file, bytes) =
                (format!("{}{ending}", input.name), packed(&input.bytes, compression));
            let path = place.path(&folder).join(&file);
            std::fs::create_dir_all(place.path(&folder)).unwrap();
            if is_pipe {
                make_fifo(&path);
                let path = path.clone();
                // Who is refused at the first bytes leaves the rest.
                std::thread::spawn(move || drop(std::fs::write(path, bytes)));
            } else {
                std::fs::write(&path, bytes).unwrap();
            }
            let started = Instant::now();
            let store = match create {
                true => "memory:".to_owned(),
                false => place.path(&format!("S-{folder}")).display().to_string(),
            };
            if !create {
                let ddl = "CREATE TABLE t (id LONG, v STRING, PRIMARY KEY (id))";
                place.run(&["sql", "--store", &store, ddl]).ends(0);
            }
            let load = ["load", "--store", &store, "t", path.to_str().unwrap()];
            let made: &[&str] = if create { &["--create", "--primary-key", "id"] } else { &[] };
            let run = place.run(&[&load[..], made].concat());
            assert!(started.elapsed() < PATIENCE, "{folder} takes long");
            // The directory differs, and the ending of compression.
            let told = outcome(&run, &folder).replace(path.to_str().unwrap(), input.name);
            outcomes.push((folder, told));
        }
    }
    let first = outcomes[0].1.clone();
    for (folder, told) in &outcomes {
        assert_eq!(*told, first, "{}: {folder}", input.what);
    }
    first
}

fn page(place: &Place) -> String {
    let mut page = HEAD.to_owned();
    for (number, input) in inputs().iter().enumerate() {
        let cells = [false, true].map(|create| cell(place, number, input, create));
        let [table, made] = cells.map(|cell| cell.replace('|', "\\|"));
        writeln!(page, "| {} | {table} | {made} |", input.what).unwrap();
    }
    page
}

#[test]
fn every_kind_of_input_in_every_wrapping_ends_as_the_page_says() {
    let today = page(&Place::new());
    if std::env::var("TONNAGE_INPUTS").is_ok_and(|mode| mode == "write") {
        std::fs::write(PAGE, today).unwrap();
        return;
    }
    let shown = std::fs::read_to_string(PAGE).unwrap();
    for (shown, today) in shown.lines().zip(today.lines()) {
        assert_eq!(shown, today, "docs/inputs.md (TONNAGE_INPUTS=write writes it anew)");
    }
    assert_eq!(shown.lines().count(), today.lines().count());
}

#[test]
fn noise_is_refused_with_a_reason() {
    let place = Place::new();
    let noise: Vec<u8> =
        (0..5_000_u32).map(|place| (place.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    for name in ["a.csv", "a.parquet", "a.data"] {
        place.write(name, &noise);
        let run = place.run(&["load", "t", name, "--create", "--primary-key", "id"]);
        assert!(run.code == 2 || run.code == 3);
        assert!(!outcome(&run, name).is_empty());
    }
}
