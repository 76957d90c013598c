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

/// The bulk get of all ships was the first read of their blocks. It was held against single gets of
/// every fifth ship, which found them in memory: bulk seemed to be no faster.
#[test]
fn reads_are_compared_on_the_same_ships() {
    let many = DemoOptions { ships: 2_500, positions_per_ship: 10, ..DemoOptions::default() };
    let story = told(&many).unwrap();
    let rates = story.split_once("How fast that was").unwrap().1;
    let latest = rates.lines().find_map(|line| line.strip_prefix("latest position of each ship"));
    let words: Vec<_> = latest.unwrap().split_whitespace().collect();
    assert_eq!((words[0], words[2]), ("2,500", "2,500"), "{rates}");
    assert!(words[4].ends_with('x'), "{rates}");
}
