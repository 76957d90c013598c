//! The tables of Oracle's tests: users, their addresses, the e-mails of these, and other facts.

use tonnage::{BulkPutOptions, Row};

use crate::common::{Backend, TestStore, row};

pub(crate) const USERS: i32 = 8;
pub(crate) const ADDRESSES: i32 = 4;
pub(crate) const EMAILS: i32 = 3;
pub(crate) const INFOS: i32 = 5;

const TABLES: &str = "
    CREATE TABLE User (id INTEGER, firstName STRING, age INTEGER, PRIMARY KEY (id));
    CREATE TABLE User.Address (addrId INTEGER, type ENUM(home, work, other), PRIMARY KEY (addrId));
    CREATE TABLE User.Address.Email (emailAddress STRING, provider STRING, PRIMARY KEY (emailAddress));
    CREATE TABLE User.Info (myid INTEGER, s1 STRING, PRIMARY KEY (myid))";

pub(crate) fn user(id: i32) -> Row {
    row! { "id" => id }
}

pub(crate) fn address(id: i32, address: i32) -> Row {
    user(id).with("addrId", address)
}

pub(crate) fn email(id: i32, of: i32, number: i32) -> Row {
    address(id, of).with("emailAddress", format!("e{number}"))
}

/// All four tables with rows.
pub(crate) fn stocked(on: Backend) -> TestStore {
    let store = on.with_tables(TABLES);
    let users = 0..USERS;
    let addresses = || users.clone().flat_map(|id| (0..ADDRESSES).map(move |number| (id, number)));
    let rows = [
        ("User", users.clone().map(|id| user(id).with("age", id * 10)).collect::<Vec<_>>()),
        (
            "User.Address",
            addresses().map(|(id, number)| address(id, number).with("type", "home")).collect(),
        ),
        (
            "User.Address.Email",
            addresses()
                .flat_map(|(id, of)| (0..EMAILS).map(move |number| email(id, of, number)))
                .collect(),
        ),
        (
            "User.Info",
            users
                .clone()
                .flat_map(|id| (0..INFOS).map(move |number| user(id).with("myid", number)))
                .collect(),
        ),
    ];
    store.multi_put(rows, &BulkPutOptions::default()).unwrap();
    store
}
