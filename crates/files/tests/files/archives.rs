//! Zip archives, workbooks and xz.

use std::io::{Cursor, Write};
use std::path::Path;

use arrow::array::AsArray;
use arrow::datatypes::{DataType, TimeUnit};
use rstest::rstest;
use tonnage_engine::{ErrorKind, Result};
use tonnage_files::{Compression, CsvOptions, ReadOptions, RecordReader, Source, infer_schema};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use crate::common;

const CSV: &str = "id,name\n1,one\n2,\"two, or\nmore\"\n";
/// The same, packed by `xz -9`.
const XZ: &[u8] = include_bytes!("data/rows.csv.xz");

fn zip(members: &[(&str, &[u8])]) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in members {
        writer.start_file(*name, SimpleFileOptions::default()).unwrap();
        writer.write_all(bytes).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

/// A workbook with these sheets, each the XML of its rows. Style 1 shows days, style 2 points in
/// time.
fn workbook(sheets: &[(&str, &str)]) -> Vec<u8> {
    let texts = ["id", "name", "on", "at", "Ann \"A\"", "007"];
    let texts: String = texts.iter().map(|text| format!("<si><t>{text}</t></si>")).collect();
    let mut parts = vec![
        (
            "[Content_Types].xml".to_owned(),
            "<Types xmlns=\"http://schemas.openxmlformats.org/package/2006/content-types\"/>".into(),
        ),
        (
            "_rels/.rels".to_owned(),
            "<Relationships><Relationship Id=\"r\" Type=\"http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument\" Target=\"xl/workbook.xml\"/></Relationships>".to_owned(),
        ),
        ("xl/sharedStrings.xml".to_owned(), format!("<sst>{texts}</sst>")),
        (
            "xl/styles.xml".to_owned(),
            "<styleSheet><numFmts count=\"1\"><numFmt numFmtId=\"164\" formatCode=\"yyyy-mm-dd hh:mm\"/></numFmts>\
             <cellXfs count=\"3\"><xf numFmtId=\"0\"/><xf numFmtId=\"14\"/><xf numFmtId=\"164\"/></cellXfs></styleSheet>"
                .to_owned(),
        ),
    ];
    let (mut named, mut related) = (String::new(), String::new());
    for (number, (name, rows)) in sheets.iter().enumerate() {
        let id = number + 1;
        named += &format!("<sheet name=\"{name}\" sheetId=\"{id}\" r:id=\"rId{id}\"/>");
        related += &format!(
            "<Relationship Id=\"rId{id}\" Type=\"http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet\" Target=\"worksheets/sheet{id}.xml\"/>"
        );
        parts.push((
            format!("xl/worksheets/sheet{id}.xml"),
            format!("<worksheet><sheetData>{rows}</sheetData></worksheet>"),
        ));
    }
    parts.push((
        "xl/workbook.xml".to_owned(),
        format!(
            "<workbook xmlns:r=\"http://schemas.openxmlformats.org/officeDocument/2006/relationships\"><sheets>{named}</sheets></workbook>"
        ),
    ));
    parts.push((
        "xl/_rels/workbook.xml.rels".to_owned(),
        format!("<Relationships>{related}</Relationships>"),
    ));
    let parts: Vec<_> = parts.iter().map(|(name, text)| (name.as_str(), text.as_bytes())).collect();
    zip(&parts)
}

const ROWS: &str = "<row r=\"1\"><c r=\"A1\" t=\"s\"><v>0</v></c><c r=\"B1\" t=\"s\"><v>1</v></c>\
     <c r=\"C1\" t=\"s\"><v>2</v></c><c r=\"D1\" t=\"s\"><v>3</v></c></row>\
     <row r=\"2\"><c r=\"A2\"><v>1</v></c><c r=\"B2\" t=\"s\"><v>4</v></c>\
     <c r=\"C2\" s=\"1\"><v>45943</v></c><c r=\"D2\" s=\"2\"><v>45943</v></c></row>\
     <row r=\"4\"><c r=\"A4\"><v>2</v></c><c r=\"B4\" t=\"s\"><v>5</v></c>\
     <c r=\"D4\" s=\"2\"><v>45943.5</v></c></row>";

/// The same workbook, with another text for some of its parts.
fn with_parts(workbook: &[u8], parts: &[(&str, &str)]) -> Vec<u8> {
    let mut archive = zip::ZipArchive::new(Cursor::new(workbook.to_vec())).unwrap();
    let mut members = Vec::new();
    for at in 0..archive.len() {
        let mut member = archive.by_index(at).unwrap();
        let name = member.name().unwrap().into_owned();
        let mut bytes = Vec::new();
        std::io::Read::read_to_end(&mut member, &mut bytes).unwrap();
        if !parts.iter().any(|(part, _)| *part == name) {
            members.push((name, bytes));
        }
    }
    let changed = parts.iter().map(|(name, text)| ((*name).to_owned(), text.as_bytes().to_vec()));
    members.extend(changed);
    let members: Vec<_> = members.iter().map(|(name, bytes)| (name.as_str(), &bytes[..])).collect();
    zip(&members)
}

fn rows(source: &Source) -> Result<usize> {
    let mut rows = 0;
    for batch in RecordReader::open(source, &ReadOptions::default())? {
        rows += batch?.batch.num_rows();
    }
    Ok(rows)
}

fn expand(directory: &Path, name: &str) -> Result<Vec<Source>> {
    Source::expand(&[directory.join(name).display().to_string()])
}

/// Of two members of one name the last was read, and nothing was said of the other.
#[test]
fn an_archive_with_two_files_of_one_name_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let bytes = zip(&[("a.csv", CSV.as_bytes()), ("b.csv", CSV.as_bytes())]);
    let renamed = bytes.windows(5).enumerate().filter(|(_, name)| *name == b"b.csv");
    let places: Vec<_> = renamed.map(|(place, _)| place).collect();
    let mut bytes = bytes.clone();
    places.iter().for_each(|place| bytes[*place] = b'a');
    let path = folder.path().join("x.zip");
    std::fs::write(&path, bytes).unwrap();
    for pattern in [path.clone(), path.join("*.csv"), path.join("a.csv")] {
        let error = Source::expand(&[pattern.display().to_string()]).unwrap_err();
        assert!(error.message().contains("several files of one name"), "{error}");
    }
}

#[test]
fn xz_is_unpacked() {
    for bytes in [XZ.to_vec(), [XZ, XZ].concat()] {
        let reader =
            RecordReader::open(&Source::memory("a.csv.xz", bytes), &ReadOptions::default());
        assert_eq!(reader.unwrap().compression(), Compression::Xz);
    }
    assert_eq!(rows(&Source::memory("a.csv.xz", XZ)).unwrap(), 2);
    for cut in 4..XZ.len() {
        assert!(rows(&Source::memory("a.csv.xz", &XZ[..cut])).is_err(), "cut at {cut}");
    }
}

#[test]
fn the_only_file_of_an_archive_is_read() {
    let one = zip(&[("rows.csv", CSV.as_bytes()), ("__MACOSX/._rows.csv", b"x")]);
    assert_eq!(rows(&Source::memory("a.zip", one.clone())).unwrap(), 2);
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("a.zip"), &one).unwrap();
    let sources = expand(directory.path(), "a.zip").unwrap();
    assert!(sources[0].name().ends_with("a.zip/rows.csv"), "{sources:?}");
    assert_eq!(rows(&sources[0]).unwrap(), 2);
    assert_eq!(rows(&Source::file(directory.path().join("a.zip"))).unwrap(), 2);
}

#[test]
fn files_of_an_archive_are_named_like_those_of_a_folder() {
    let tabs = CSV.replace(',', "\t");
    let bytes = zip(&[
        ("2022/a.csv", CSV.as_bytes()),
        ("2022/b.csv", CSV.as_bytes()),
        ("2023/c.tsv", tabs.as_bytes()),
        ("README", b"see below"),
    ]);
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("a.zip"), bytes).unwrap();
    let names = |pattern: &str| {
        let sources = expand(directory.path(), pattern)?;
        let short = |source: &Source| source.name().rsplit_once("a.zip/").unwrap().1.to_owned();
        Ok::<_, tonnage_engine::Error>(sources.iter().map(short).collect::<Vec<_>>())
    };
    assert_eq!(names("a.zip/2022/*.csv").unwrap(), ["2022/a.csv", "2022/b.csv"]);
    assert_eq!(names("a.zip/*/*").unwrap(), ["2022/a.csv", "2022/b.csv", "2023/c.tsv"]);
    assert_eq!(rows(&expand(directory.path(), "a.zip/2023/c.tsv").unwrap()[0]).unwrap(), 2);
    let several = rows(&expand(directory.path(), "a.zip").unwrap()[0]).unwrap_err();
    assert_eq!(several.kind(), ErrorKind::Invalid);
    assert!(several.message().contains("4 files, 2022/a.csv, 2022/b.csv"), "{several}");
    let none = expand(directory.path(), "a.zip/*.json").unwrap_err();
    assert_eq!(none.kind(), ErrorKind::NotFound);
    let missing = rows(&expand(directory.path(), "a.zip/x.csv").unwrap()[0]).unwrap_err();
    assert!(missing.message().contains("there is no file x.csv"), "{missing}");
}

#[test]
fn what_is_packed_in_an_archive_is_unpacked_too() {
    let packed = zip(&[("rows.csv.xz", XZ)]);
    assert_eq!(rows(&Source::memory("a.zip", packed.clone())).unwrap(), 2);
    let twice = zip(&[("inner.zip", &packed)]);
    assert_eq!(rows(&Source::memory("a.zip", twice.clone())).unwrap(), 2);
    let often = zip(&[("outer.zip", &twice)]);
    let error = rows(&Source::memory("a.zip", often)).unwrap_err();
    assert!(error.message().contains("packed more than three times"), "{error}");
}

#[test]
fn a_damaged_archive_is_an_error() {
    let whole = zip(&[("rows.csv", CSV.repeat(1_000).as_bytes())]);
    for cut in [4, 30, whole.len() / 2, whole.len() - 1] {
        assert!(rows(&Source::memory("a.zip", &whole[..cut])).is_err(), "cut at {cut}");
    }
    let mut turned = whole.clone();
    turned[whole.len() / 3] ^= 1;
    assert!(rows(&Source::memory("a.zip", turned)).is_err(), "its checksum is wrong");
}

#[test]
fn a_sheet_has_types_and_places() {
    let source = Source::memory("book.xlsx", workbook(&[("Crew", ROWS), ("Empty", "")]));
    let schema = infer_schema(&source, &ReadOptions::default(), 100).unwrap();
    let types: Vec<_> = schema.fields().iter().map(|field| field.data_type().clone()).collect();
    let time = DataType::Timestamp(TimeUnit::Second, None);
    assert_eq!(types, [DataType::Int64, DataType::Utf8, DataType::Date32, time]);
    // What is asked of CSV does not change how a sheet is read.
    let csv = CsvOptions { delimiter: Some(b';'), ..CsvOptions::default() };
    let options = ReadOptions { csv, ..common::wanting(schema.into()) };
    let batches: Vec<_> = RecordReader::open(&source, &options).unwrap().collect();
    let read = batches[0].as_ref().unwrap();
    let names = read.batch.column(1).as_string::<i32>();
    assert_eq!((names.value(0), names.value(1)), ("Ann \"A\"", "007"));
    assert!(read.batch.column(2).is_null(1));
    assert_eq!(read.reject(1, None, "no").unwrap().line, Some(4), "the row of the sheet");
}

#[rstest]
#[case("book.xlsx/Crew", Ok(2))]
#[case("book.xlsx/More", Ok(2))]
#[case("book.xlsx/*", Ok(2))]
#[case("book.xlsx", Err("it holds 2 sheets, Crew, More"))]
#[case("book.xlsx/Less", Err("there is no sheet Less in it, but Crew, More"))]
fn sheets_are_named_like_files(
    #[case] name: &str,
    #[case] expected: std::result::Result<usize, &str>,
) {
    let directory = tempfile::tempdir().unwrap();
    let book = workbook(&[("Crew", ROWS), ("More", ROWS)]);
    std::fs::write(directory.path().join("book.xlsx"), book).unwrap();
    match (rows(&expand(directory.path(), name).unwrap()[0]), expected) {
        (Ok(found), Ok(wanted)) => assert_eq!(found, wanted),
        (Err(error), Err(wanted)) => assert!(error.message().contains(wanted), "{error}"),
        (found, _) => panic!("{found:?}"),
    }
}

#[test]
fn documents_of_other_programs_are_named() {
    for (part, what) in [("content.xml", "OpenDocument"), ("word/document.xml", "Word")] {
        let error = rows(&Source::memory("a", zip(&[(part, b"<x/>")]))).unwrap_err();
        assert!(error.message().contains(what) && error.kind() == ErrorKind::Invalid, "{error}");
    }
    let old = Source::memory("a.xls", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1".as_slice());
    assert!(rows(&old).unwrap_err().message().contains("as a workbook"));
}

/// Programs that cannot calculate write formulas without their values. Such cells were NULL without
/// a report.
#[test]
fn formulas_without_a_value_reject_their_record() {
    let row = |number: usize, cell: &str| {
        format!(
            "<row r=\"{number}\"><c r=\"A{number}\"><v>{number}</v></c>{cell}<c r=\"C{number}\"><v>1</v></c></row>"
        )
    };
    let text = |name: &str| format!("t=\"inlineStr\"><is><t>{name}</t></is></c>");
    let header = format!(
        "<row r=\"1\"><c r=\"A1\" {}<c r=\"B1\" {}<c r=\"C1\" {}</row>",
        text("id"),
        text("v"),
        text("w")
    );
    let body = [
        row(2, "<c r=\"B2\"><f>A2*2</f><v>4</v></c>"),
        row(3, "<c r=\"B3\"><f>A3*2</f><v></v></c>"),
        row(4, "<c r=\"B4\"><f>A4*2</f></c>"),
        row(5, "<c r=\"B5\" s=\"1\"/>"),
        row(6, "<c r=\"B6\" t=\"str\"><f>\"\"</f><v></v></c>"),
        row(7, ""),
        row(8, "<c r=\"B8\"><f t=\"shared\" si=\"0\"/></c>"),
    ];
    let book = |header: &str| workbook(&[("S", &format!("{header}{}", body.concat()))]);
    let source = Source::memory("book.xlsx", book(&header));
    let schema = infer_schema(&source, &ReadOptions::default(), 100).unwrap();
    assert_eq!(
        schema.field(1).data_type(),
        &DataType::Int64,
        "the empty text in line 6 is not text"
    );
    let (batch, rejected) = common::read(&source, &common::wanting(schema.clone().into()));
    assert_eq!(common::lines(&batch), ["2,4,1", "5,,1", "6,,1", "7,,1"]);
    let told: Vec<_> = rejected.iter().map(|it| (it.line, it.column.as_deref())).collect();
    assert_eq!(told, [(Some(3), Some("v")), (Some(4), Some("v")), (Some(8), Some("v"))]);
    assert!(rejected[0].reason.contains("its formula has no value in the workbook"));
    // They do no harm in an unwanted column.
    let wanted = schema.project(&[0, 2]).unwrap();
    let options = ReadOptions {
        unmentioned: tonnage_files::ExtraColumns::Skip,
        ..common::wanting(wanted.into())
    };
    let (batch, rejected) = common::read(&source, &options);
    assert_eq!((batch.num_rows(), rejected.len()), (7, 0));
    // A name cannot be guessed.
    let unnamed =
        header.replace(&format!("<c r=\"B1\" {}", text("v")), "<c r=\"B1\"><f>\"v\"</f></c>");
    let error = rows(&Source::memory("book.xlsx", book(&unnamed))).unwrap_err();
    assert!(error.message().contains("the name of column 2: its formula has no value"), "{error}");
}

/// A few packed bytes mean as many as one likes: all that is held of a workbook has a bound, and so
/// has what its reader makes room for.
#[test]
fn what_is_held_of_a_workbook_has_a_bound() {
    let sound = workbook(&[("S", ROWS)]);
    assert_eq!(rows(&Source::memory("book.xlsx", with_parts(&sound, &[]))).unwrap(), 2);
    let refused = |parts: &[(&str, &str)]| {
        rows(&Source::memory("book.xlsx", with_parts(&sound, parts))).unwrap_err()
    };
    let blanks = " ".repeat(65 << 20);
    let package = "<Relationships><Relationship Type=\"x/relationships/officeDocument\" Target=\"xl/Other.xml\"/></Relationships>";
    for parts in [
        &[("xl/styles.xml", format!("<styleSheet>{blanks}</styleSheet>").as_str())][..],
        &[("XL\\Styles.xml", &blanks)],
        &[("xl/workbook.xml", &format!("<workbook>{blanks}</workbook>"))],
        &[("xl/_rels/workbook.xml.rels", &format!("<Relationships>{blanks}</Relationships>"))],
        // Where the workbook is another part, as the package says.
        &[("_rels/.rels", package), ("xl/other.xml", &blanks)],
    ] {
        let error = refused(parts);
        assert!(error.message().contains("takes more than 64 MiB of memory"), "{error}");
        assert_eq!(error.kind(), ErrorKind::Invalid);
    }
    for count in ["20", "99999999999999999999"] {
        let texts = format!("<sst count=\"1\" uniqueCount = '{count}'><si><t>id</t></si></sst>");
        let error = refused(&[("xl/sharedStrings.xml", &texts)]);
        assert!(error.message().contains("but has not as many"), "{error}");
    }
    let long = "x".repeat(17 << 20);
    for cell in [
        format!("<c r=\"A1\" t=\"inlineStr\"><is><t>{long}</t></is></c>"),
        format!("<c r=\"A1\"><!--{long}--><v>1</v></c>"),
        format!("<c r=\"{long}\"><v>1</v></c>"),
    ] {
        let sheet =
            format!("<worksheet><sheetData><row r=\"1\">{cell}</row></sheetData></worksheet>");
        let error = refused(&[("xl/worksheets/sheet1.xml", &sheet)]);
        assert!(error.message().contains("has a piece of more than 16 MiB"), "{error}");
    }
}

/// A row was put together in memory before it was read: 16,384 cells may share a text of any
/// length.
#[test]
fn a_long_row_is_rejected_by_itself() {
    let text = format!("<sst><si><t>{}</t></si><si><t>id</t></si></sst>", "x".repeat(4 << 20));
    let columns = ["A", "B", "C", "D", "E", "F", "G", "H", "I", "J"];
    let cells = |row: usize, text: usize| -> String {
        let cell = |column: &&str| format!("<c r=\"{column}{row}\" t=\"s\"><v>{text}</v></c>");
        columns.iter().map(cell).collect()
    };
    let named = columns
        .map(|column| format!("<c r=\"{column}1\" t=\"inlineStr\"><is><t>{column}</t></is></c>"));
    let sheet = format!(
        "<row r=\"1\">{}</row><row r=\"2\">{}</row><row r=\"3\">{}</row>",
        named.concat(),
        cells(2, 0),
        cells(3, 1)
    );
    let book = with_parts(&workbook(&[("S", &sheet)]), &[("xl/sharedStrings.xml", &text)]);
    let (batch, rejected) =
        common::read(&Source::memory("book.xlsx", book), &ReadOptions::default());
    assert_eq!((batch.num_rows(), rejected.len()), (1, 1));
    assert!(rejected[0].reason.contains("longer than 16777216 bytes"), "{}", rejected[0].reason);
}

/// Each cell by its position, with its text.
fn sheet(cells: &[(&str, &str)]) -> String {
    let row = |place: &str| place.trim_start_matches(char::is_alphabetic).to_owned();
    let mut rows: Vec<(String, String)> = Vec::new();
    for (place, text) in cells {
        let cell = format!("<c r=\"{place}\" t=\"inlineStr\"><is><t>{text}</t></is></c>");
        match rows.last_mut().filter(|(number, _)| *number == row(place)) {
            Some((_, written)) => written.push_str(&cell),
            None => rows.push((row(place), cell)),
        }
    }
    rows.iter().map(|(number, cells)| format!("<row r=\"{number}\">{cells}</row>")).collect()
}

/// A workbook whose index has no name was refused: "a cell left of the first column of the sheet".
#[test]
fn a_sheet_may_have_cells_left_of_its_first_name() {
    let cells = [("B1", "v"), ("D1", "w"), ("A2", "7"), ("B2", "x"), ("D3", "y")];
    let source = Source::memory("book.xlsx", workbook(&[("S", &sheet(&cells))]));
    let (batch, rejected) = common::read(&source, &ReadOptions::default());
    let names: Vec<_> = batch.schema().fields().iter().map(|it| it.name().clone()).collect();
    assert_eq!(names, ["column_1", "v", "column_3", "w"]);
    assert_eq!((common::lines(&batch), rejected), (vec!["7,x,,".into(), ",,,y".into()], vec![]));
    // Further right than the first column of the sheet nothing changes.
    let cells = [("C2", "id"), ("D2", "v"), ("C3", "1"), ("D3", "x")];
    let source = Source::memory("book.xlsx", workbook(&[("S", &sheet(&cells))]));
    let (batch, _) = common::read(&source, &ReadOptions::default());
    assert_eq!((batch.schema().field(0).name().as_str(), batch.num_columns()), ("id", 2));
    // A formula without a value is a cell, too.
    let rows = sheet(&[("B1", "v"), ("B2", "x")])
        .replace("<c r=\"B2\"", "<c r=\"A2\"><f>1+1</f></c><c r=\"B2\"");
    let source = Source::memory("book.xlsx", workbook(&[("S", &rows)]));
    let (batch, rejected) = common::read(&source, &ReadOptions::default());
    assert_eq!((batch.num_columns(), batch.num_rows(), rejected.len()), (2, 0, 1));
}

/// A value after the last name rejected its record, and no option could take it. The sheet may say
/// where its cells end, and what it says may be wrong.
#[rstest]
#[case("")]
#[case("<dimension ref=\"A1:D4\"/>")]
#[case("<dimension ref=\"A1:Z9\"/>")]
#[case("<dimension ref=\"A1\"/>")]
fn a_sheet_may_have_cells_right_of_its_last_name(#[case] dimension: &str) {
    let cells = [("A1", "id"), ("B1", "v"), ("A2", "1"), ("B2", "x"), ("A4", "2"), ("D4", "note")];
    let rows = sheet(&cells);
    let told = format!("<worksheet>{dimension}<sheetData>{rows}</sheetData></worksheet>");
    let book = with_parts(&workbook(&[("S", &rows)]), &[("xl/worksheets/sheet1.xml", &told)]);
    let source = Source::memory("book.xlsx", book);
    let (batch, rejected) = common::read(&source, &ReadOptions::default());
    let names: Vec<_> = batch.schema().fields().iter().map(|it| it.name().clone()).collect();
    assert_eq!(names, ["id", "v", "column_3", "column_4"]);
    assert_eq!(
        (common::lines(&batch), rejected),
        (vec!["1,x,,".into(), "2,,,note".into()], vec![])
    );
}

#[test]
fn rows_above_the_header_of_a_sheet_can_be_skipped() {
    let cells = [
        ("A1", "A report\nof two lines, &quot;quoted"),
        ("B3", "id"),
        ("C3", "v"),
        ("B4", "1"),
        ("C4", "x"),
        ("B5", "2"),
    ];
    let source = Source::memory("book.xlsx", workbook(&[("S", &sheet(&cells))]));
    let csv = CsvOptions { skip_lines: 2, ..CsvOptions::default() };
    let options = ReadOptions { csv, ..ReadOptions::default() };
    let schema = infer_schema(&source, &options, 100).unwrap();
    let wanted = ReadOptions { schema: Some(schema.into()), ..options };
    let (batch, rejected) = common::read(&source, &wanted);
    assert_eq!((common::lines(&batch), rejected), (vec!["1,x".into(), "2,".into()], vec![]));
    let mut batches = RecordReader::open(&source, &wanted).unwrap();
    let read = batches.next().unwrap().unwrap();
    assert_eq!(read.reject(1, None, "no").unwrap().line, Some(5), "the row of the sheet");
}

#[test]
fn a_blank_row_of_a_sheet_of_one_column_is_no_record() {
    let cells = [("A1", "v"), ("A2", "x"), ("A4", "y")];
    let source = Source::memory("book.xlsx", workbook(&[("S", &sheet(&cells))]));
    assert_eq!(rows(&source).unwrap(), 2);
}
