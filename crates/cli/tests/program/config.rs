//! Options in a file: `--config`.

use crate::common::{Place, ships_csv};

#[test]
fn options_of_a_load_come_from_a_file() {
    let place = Place::new();
    place.write("a.csv", "id;n;v\n1;NA;a\n2;5;b\n2;6;c\n");
    place.write(
        "load.toml",
        "table = 't'\nfiles = ['a.csv']\ncreate = true\nprimary_key = 'id'\ndelimiter = ';'\n\
         null = ['NA']\non-existing = 'replace'\nquiet = false\nerrors_max = 3\n\n\
         [map]\nw = \"upper(v)\"\n",
    );
    place
        .run(&["load", "--config", "load.toml"])
        .ends(0)
        .says(&["3 read", "2 inserted, 1 existed"]);
    assert_eq!(
        place.run(&["sql", "SELECT n, v, w FROM t ORDER BY id"]).out,
        "n,v,w\n,a,A\n6,c,C\n"
    );
    // The command line wins, also over an option that it cannot stand beside.
    place.write("b.csv", "id,n,v\n2,7,d\n");
    let run = place.run(&[
        "load",
        "--config=load.toml",
        "t",
        "b.csv",
        "--delimiter",
        ",",
        "--on-existing",
        "keep",
    ]);
    run.ends(0).says(&["1 existed"]);
    assert!(place.run(&["sql", "SELECT v FROM t WHERE id = 2"]).out.contains('c'));
    // That held only for options that said so themselves, and not for --on-existing.
    let run = place.run(&["load", "--config", "load.toml", "--dry-run"]);
    run.ends(0).says(&["3 fit the table (dry run"]);
}

#[test]
fn options_of_an_unload_come_from_a_file() {
    let place = Place::new().with_ships();
    place.write("a.csv", ships_csv(10));
    place.run(&["load", "ships", "a.csv"]).ends(0);
    place.write(
        "unload.toml",
        "output_dir = 'out'\nformat = 'jsonl'\nparallelism = 2\nwhere = 'ship < 5'\ncolumns = ['ship', 'lat']\nstore = 'nowhere'\n",
    );
    place.run(&["unload", "ships", "--config", "unload.toml"]).ends(0).says(&["5 rows"]);
    let run = place.run(&[
        "unload",
        "ships",
        "--config",
        "unload.toml",
        "-o",
        "-",
        "--where",
        "ship = 1",
    ]);
    assert_eq!(run.ends(0).out, "{\"ship\":1,\"lat\":1.5}\n");
}

#[test]
fn what_is_wrong_with_a_file_of_options_is_told() {
    let place = Place::new().with_ships();
    place.write("a.csv", ships_csv(3));
    for (text, says) in [
        ("on_exist = 'keep'", &["on_exist is not an option of `tonnage load`", "on_existing"][..]),
        ("tabel = 'ships'", &["tabel is not an option", "is table meant?"]),
        ("delimeter = ';'", &["is delimiter meant?"]),
        ("zzz = 1", &["zzz is not an option", "--help"]),
        ("config = 'x.toml'", &["config is not an option"]),
        ("create = 'yes'", &["create is a switch"]),
        ("memory = ['1M', '2M']", &["memory takes one value"]),
        ("memory = true", &["memory takes a text or a number"]),
        ("memory = 'lots'", &["lots", "--memory"]),
        ("memory = ", &["c.toml", "line 1"]),
        ("table = 't'\ntable = 'u'", &["c.toml", "duplicate key"]),
    ] {
        place.write("c.toml", text);
        place.run(&["load", "ships", "a.csv", "--config", "c.toml"]).ends(3).says(says);
    }
    place.run(&["load", "ships", "a.csv", "--config", "none.toml"]).ends(3).says(&["none.toml"]);
    assert_eq!(place.run(&["count", "ships"]).out, "0\n");
}
