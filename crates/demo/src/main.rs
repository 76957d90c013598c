//! Run the demo as a program: `make demo`.

use std::io;
use std::process::ExitCode;

use tonnage_demo::DemoOptions;

fn main() -> ExitCode {
    match tonnage_demo::run(&DemoOptions::default(), &mut io::stdout().lock()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("tonnage-demo: {error}");
            ExitCode::FAILURE
        }
    }
}
