//! The story as a reader sees it.

use tonnage_demo::DemoOptions;

fn told(options: &DemoOptions) -> tonnage::Result<String> {
    let mut output = Vec::new();
    tonnage_demo::run(options, &mut output)?;
    Ok(String::from_utf8(output).unwrap())
}

fn small() -> DemoOptions {
    DemoOptions { ships: 50, positions_per_ship: 60, ..DemoOptions::default() }
}

#[test]
fn the_story_has_all_its_chapters() {
    let story = told(&small()).unwrap();
    let chapters = [
        "3,000 positions",
        "Both agree",
        "The track of ship",
        "A phone shop",
        "one by one",
        "All in",
    ];
    for chapter in chapters {
        assert!(story.contains(chapter), "'{chapter}' is missing in\n{story}");
    }
}

#[test]
fn a_named_store_stays_and_is_not_told_over() {
    let place = tempfile::tempdir().unwrap();
    let options = DemoOptions { directory: Some(place.path().join("D")), ..small() };
    assert!(told(&options).unwrap().contains("The store stays"));
    let again = told(&DemoOptions { directory: options.directory, ..small() }).unwrap_err();
    assert!(again.to_string().contains("give a new directory"), "{again}");
}

#[test]
fn a_cancelled_load_ends_the_story() {
    let options = small();
    options.cancel.cancel();
    assert!(told(&options).is_err());
}
