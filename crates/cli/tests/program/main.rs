//! The program as its users meet it: every test runs the real binary in a directory of its own.

#[cfg(unix)]
mod azure;
mod backup;
mod bad_input;
mod bench;
mod common;
mod completions;
mod config;
mod demo;
mod documents;
mod formats;
mod get;
#[cfg(unix)]
mod inputs;
mod load;
mod mapping;
mod new_tables;
mod pairs;
#[cfg(unix)]
mod pipes;
mod real_data;
mod rejects;
#[cfg(unix)]
mod remote;
mod resume;
mod serve;
mod served;
#[cfg(unix)]
mod shell;
mod timeout;
mod tour;
mod unload;
mod verbs;
#[cfg(unix)]
mod web;
