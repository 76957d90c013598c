//! Pictures show what their sources say.

use std::fs;
use std::io;

use tonnage_tidy::sources::root;

/// The words of all labels of a graph: they stand between `label="` and `"`.
fn labels_of(graph: &str) -> Vec<String> {
    let labels = graph.split("label=\"").skip(1).filter_map(|rest| rest.split('"').next());
    labels.flat_map(|label| label.split("\\n").map(str::to_owned)).collect()
}

/// What `dot` writes in another form.
fn as_written(label: &str) -> String {
    label.replace('&', "&amp;").replace('\'', "&#39;").replace('-', "&#45;")
}

/// A source that was changed without `make pictures` has labels that the picture lacks.
#[test]
fn each_picture_has_the_labels_of_its_source() -> io::Result<()> {
    let mut pictures = 0;
    for entry in fs::read_dir(root().join("docs/pictures"))? {
        let source = entry?.path();
        if source.extension().is_none_or(|extension| extension != "dot") {
            continue;
        }
        pictures += 1;
        let drawn = fs::read_to_string(source.with_extension("svg"))?;
        let labels = labels_of(&fs::read_to_string(&source)?);
        assert!(labels.len() > 5, "labels of {} are found", source.display());
        let missing: Vec<_> =
            labels.iter().filter(|label| !drawn.contains(&as_written(label))).collect();
        assert!(missing.is_empty(), "{}: make pictures: {missing:?}", source.display());
    }
    assert!(pictures >= 4, "pictures are found");
    Ok(())
}
