//! `tonnage sql` at a terminal, which is a pseudo-terminal here.

use std::fs::File;
use std::io::{Read, Write};
use std::process::{Child, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::time::{Duration, Instant};

use nix::pty::{Winsize, openpty};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::common::{Place, wait_for_work};
use crate::served::Served;

/// Long enough for a machine with other things to do.
const PATIENCE: Duration = Duration::from_secs(60);
const TAB: &str = "\t";
const CTRL_C: &str = "\x03";
const CTRL_D: &str = "\x04";
const UP: &str = "\x1b[A";

/// The program with someone before its screen.
struct Terminal {
    program: Child,
    keys: File,
    screen: Receiver<Vec<u8>>,
    shown: String,
}

impl Terminal {
    fn new(place: &Place, arguments: &[&str]) -> Self {
        let size = Winsize { ws_row: 40, ws_col: 100, ws_xpixel: 0, ws_ypixel: 0 };
        let pair = openpty(&size, None).unwrap();
        let side = || Stdio::from(pair.slave.try_clone().unwrap());
        let mut command = place.command(arguments);
        command
            .env("TERM", "xterm")
            .env("TONNAGE_HISTORY", place.path("history"))
            .env_remove("NO_COLOR");
        let program = command.stdin(side()).stdout(side()).stderr(side()).spawn().unwrap();
        let mut screen = File::from(pair.master.try_clone().unwrap());
        let (sender, receiver) = mpsc::channel();
        std::thread::spawn(move || {
            let mut bytes = vec![0; 4096];
            // The end of the program is an error of the terminal.
            while let Ok(count @ 1..) = screen.read(&mut bytes) {
                if sender.send(bytes[..count].to_vec()).is_err() {
                    return;
                }
            }
        });
        let mut terminal =
            Self { program, keys: File::from(pair.master), screen: receiver, shown: String::new() };
        terminal.sees("tonnage> ");
        terminal
    }

    fn types(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).unwrap();
    }

    /// Waits until this is on the screen, and forgets everything up to there.
    #[track_caller]
    fn sees(&mut self, text: &str) {
        let begun = Instant::now();
        loop {
            let bare = without_colours(&self.shown);
            if let Some(at) = bare.find(text) {
                self.shown = bare[at + text.len()..].to_owned();
                return;
            }
            let Ok(bytes) = self.screen.recv_timeout(PATIENCE.saturating_sub(begun.elapsed()))
            else {
                panic!("'{text}' was not seen; there is\n{bare}");
            };
            self.shown.push_str(&String::from_utf8_lossy(&bytes));
        }
    }

    #[track_caller]
    fn ends(mut self, code: i32) {
        let begun = Instant::now();
        while begun.elapsed() < PATIENCE {
            if let Some(status) = self.program.try_wait().unwrap() {
                assert_eq!(status.code(), Some(code));
                return;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        panic!("the shell did not end; there is\n{}", without_colours(&self.shown));
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.program.kill();
        let _ = self.program.wait();
    }
}

/// The text without the sequences that colour it and move the cursor.
fn without_colours(text: &str) -> String {
    let mut parts = text.split("\x1b[");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |bare, part| match part.find(|char: char| char.is_ascii_alphabetic()) {
        Some(end) => bare + &part[end + 1..],
        // The rest of a sequence is still to come.
        None => bare + "\x1b[" + part,
    })
}

fn place() -> Place {
    let place = Place::new();
    place
        .run(&[
            "sql",
            "CREATE TABLE phones (maker STRING, price LONG, PRIMARY KEY (SHARD(maker), price))",
        ])
        .ends(0);
    place
}

#[test]
fn statements_are_typed_completed_and_answered() {
    let mut terminal = Terminal::new(&place(), &["sql", "S"]);
    terminal.types("INSERT INTO ph");
    terminal.types(TAB);
    terminal.sees("INSERT INTO phones");
    terminal.types("\rVALUES ('Nokia', 300);\r");
    terminal.sees("-> ");
    terminal.sees("rows: 1 inserted (");
    terminal.types("SELECT phones.mak");
    terminal.types(TAB);
    terminal.types(" AS m FROM phones;\r");
    terminal.sees("| Nokia |");
    terminal.sees("1 row (");
    terminal.types("SELECT pric FROM phones;\r");
    terminal.sees("error: line 1, column 8: there is no column pric; did you mean price?");
    terminal.sees("       ^^^^");
    terminal.types("\\d pho");
    terminal.types(TAB);
    terminal.types("\r");
    terminal.sees("primary key: SHARD(maker), price");
    terminal.types("quit\r");
    terminal.ends(0);
}

#[test]
fn an_interrupt_clears_the_line_or_stops_the_statement_but_not_the_shell() {
    let mut terminal = Terminal::new(&place(), &["sql", "S"]);
    terminal.types("SELECT 'not this");
    terminal.sees("not this");
    terminal.types(CTRL_C);
    terminal.sees("tonnage> ");
    terminal.types("SELECT sum(a.value * b.value % 7) FROM generate_series(1, 1000000) a, generate_series(1, 1000000) b;\r");
    terminal.sees("b;");
    // Before the statement runs, the signal would stop nothing.
    wait_for_work(terminal.program.id(), 100);
    // Only a session of its own has a terminal that sends the signal; so it is sent by hand.
    kill(Pid::from_raw(terminal.program.id() as i32), Signal::SIGINT).unwrap();
    terminal.sees("stopped (");
    terminal.types("SELECT 40 + 2 AS answer;\r");
    terminal.sees("| 42     |");
    terminal.types("quit\r");
    terminal.ends(0);
}

#[test]
fn what_was_typed_is_there_the_next_time() {
    let place = place();
    let mut terminal = Terminal::new(&place, &["sql", "S"]);
    terminal.types("SELECT 1\r  AS remembered;\r SELECT 2 AS secret;\r");
    terminal.sees("| secret |");
    terminal.types(" quit\r");
    terminal.ends(0);
    let mut terminal = Terminal::new(&place, &["sql", "S"]);
    terminal.types(UP);
    terminal.sees("AS remembered;");
    terminal.types("\r");
    terminal.sees("| remembered |");
    terminal.types("quit\r");
    terminal.ends(0);
    assert!(!place.read("history").contains("secret"));
}

#[test]
fn the_end_of_input_ends_the_shell() {
    let mut terminal = Terminal::new(&place(), &["sql", "S"]);
    terminal.types(CTRL_D);
    terminal.ends(0);
}

#[test]
fn a_shell_needs_a_store_or_leave_to_make_one() {
    let place = Place::new();
    // Without a terminal there is no shell, so these need none.
    place.run(&["sql", "nowhere", "SELECT 1"]).ends(3).says(&["nowhere"]);
    let mut terminal = Terminal::new(&place, &["sql", "--create", "fresh"]);
    terminal.types("CREATE TABLE t (a LONG, PRIMARY KEY (a));\r");
    terminal.sees("created table t");
    terminal.types("\\q\r");
    terminal.ends(0);
    assert_eq!(place.run(&["sql", "fresh", "SHOW TABLES"]).ends(0).out, "t\n");
}

/// Once a server had to be given its statements all at once.
#[test]
fn the_shell_works_through_a_server() {
    let place = Place::new();
    let served = Served::new(&place, &[], &[]);
    let mut terminal = Terminal::new(&place, &["sql", served.flight()]);
    terminal.types("CREATE TABLE phones (maker STRING, price LONG, PRIMARY KEY (maker));\r");
    terminal.sees("created table phones");
    terminal.types("INSERT INTO ph");
    terminal.types(TAB);
    terminal.sees("INSERT INTO phones");
    terminal.types("\rVALUES ('Nokia', 300);\r");
    terminal.sees("1 inserted");
    terminal.types("SELECT maker FROM phones;\r");
    terminal.sees("Nokia");
    terminal.types("SELECT 1;\r\r");
    terminal.types("SELECT nothing FROM phones;\r");
    terminal.sees("nothing");
    terminal.types("CREATE INDEX by_price ON phones (price);\r");
    terminal.sees("by_price");
    terminal.types("\\d phones\r");
    terminal.sees("index: by_price (price)");
    // A table that another process created is there, too.
    served.request("POST /v1/tables", "CREATE TABLE boats (id LONG, PRIMARY KEY (id))");
    terminal.types("\\d\r");
    terminal.sees("boats");
    terminal.sees("2 tables");
    // Ctrl-D would be lost before the prompt is there: the terminal itself takes it then.
    terminal.types("quit\r");
    terminal.ends(0);
}
