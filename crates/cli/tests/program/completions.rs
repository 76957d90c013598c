//! What shells and readers of manuals get.

use crate::common::Place;

#[test]
fn each_shell_gets_completions_of_verbs_and_options() {
    let place = Place::new();
    for shell in ["bash", "zsh", "fish"] {
        let script = place.run(&["completions", shell]).ends(0).out;
        for word in ["unload", "on-existing", "multi-get"] {
            assert!(script.contains(word), "{word} is missing for {shell}");
        }
    }
    place.run(&["completions", "csh"]).ends(3).says(&["bash", "zsh", "fish"]);
}

/// A script with a mistake would spoil every prompt.
#[test]
fn the_completions_of_bash_work() {
    let place = Place::new();
    place.write("tonnage.bash", place.run(&["completions", "bash"]).ends(0).out);
    let ask = "source ./tonnage.bash && COMP_WORDS=(tonnage unl) COMP_CWORD=1 && _tonnage tonnage unl tonnage && echo \"${COMPREPLY[@]}\"";
    let mut bash = std::process::Command::new("bash");
    let run = bash.args(["-c", ask]).current_dir(place.path("")).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&run.stdout), "unload\n", "{run:?}");
}

#[test]
fn the_manual_has_a_page_for_each_verb() {
    let place = Place::new();
    let page = place.run(&["man"]).ends(0).out;
    assert!(page.contains(".TH tonnage 1") && page.contains("Exit codes"), "{page}");
    place.run(&["man", "--output-dir", "man/man1"]).ends(0);
    let load = place.read("man/man1/tonnage-load.1");
    assert!(load.contains("errors\\-max") && load.contains("Examples"), "{load}");
    place.write("file", "");
    place.run(&["man", "--output-dir", "file/man"]).ends(3).says(&["file/man"]);
}
