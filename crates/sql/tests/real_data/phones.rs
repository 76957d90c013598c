//! The shop: phones of some makers within a range of prices, with their pictures.

use std::collections::BTreeMap;
use std::path::Path;

use tonnage::{BulkGetOptions, BulkPutOptions, Direction, FieldRange, KeySource, Row, Value};
use tonnage_sql::Request;
use tonnage_testkit::test_data;

use crate::common::{Place, assert_near, records};

const MAKERS: [&str; 4] = ["Apple", "SAMSUNG", "Nokia", "Motorola"];
const PRICES: std::ops::RangeInclusive<i64> = 15_000..=40_000;

/// A phone as a line of the file has it; its number is that of the line.
#[derive(Clone, Debug)]
struct Phone {
    maker: String,
    price: i64,
    id: i64,
    model: String,
    rating: Option<f64>,
}

impl Phone {
    fn key(&self) -> Row {
        Row::new().with("maker", self.maker.as_str()).with("price", self.price).with("id", self.id)
    }

    fn texts(&self) -> Vec<String> {
        vec![self.maker.clone(), self.price.to_string(), self.id.to_string(), self.model.clone()]
    }

    fn is_wanted(&self) -> bool {
        MAKERS.contains(&self.maker.as_str()) && PRICES.contains(&self.price)
    }
}

struct Shop {
    place: Place,
    /// By key.
    phones: Vec<Phone>,
    /// The pictures of each phone that has some.
    pictures: BTreeMap<i64, Vec<Vec<u8>>>,
}

/// Every third phone is given a picture, every sixth two.
fn pictures(phones: &[Phone], folder: &Path) -> BTreeMap<i64, Vec<Vec<u8>>> {
    let mut files: Vec<_> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let pictures: Vec<_> = files.iter().map(|file| std::fs::read(file).unwrap()).collect();
    let some = |id: i64| {
        (0..1 + i64::from(id % 6 == 0))
            .map(|n| pictures[(id + n) as usize % pictures.len()].clone())
            .collect()
    };
    phones
        .iter()
        .filter(|phone| phone.id % 3 == 0)
        .map(|phone| (phone.id, some(phone.id)))
        .collect()
}

fn shop() -> Option<Shop> {
    let (file, icons) = (test_data("flipkart_mobiles.csv")?, test_data("phone_icons")?);
    let phone = |(line, record): (usize, Vec<String>)| Phone {
        maker: record[0].clone(),
        price: record[6].parse().unwrap(),
        id: line as i64,
        model: record[1].clone(),
        rating: record[5].parse().ok(),
    };
    let mut phones: Vec<Phone> = records(&file).into_iter().enumerate().map(phone).collect();
    phones.sort_by(|a, b| (&a.maker, a.price, a.id).cmp(&(&b.maker, b.price, b.id)));
    let pictures = pictures(&phones, &icons);
    let place = Place::new();
    place
        .sql
        .execute(
            "CREATE TABLE phones (maker STRING, price LONG, id LONG, model STRING, rating DOUBLE, PRIMARY KEY (SHARD(maker), price, id));
             CREATE TABLE phones.images (image INTEGER, data BINARY, PRIMARY KEY (image))",
        )
        .unwrap();
    let rows = phones.iter().map(|phone| {
        let rating = phone.rating.map_or(Value::Null, Value::Double);
        phone.key().with("model", phone.model.as_str()).with("rating", rating)
    });
    let images = phones.iter().flat_map(|phone| {
        let of_one = pictures.get(&phone.id).into_iter().flatten().enumerate();
        of_one.map(|(number, data)| {
            phone.key().with("image", number as i64).with("data", data.clone())
        })
    });
    let rows = [("phones", rows.collect::<Vec<_>>()), ("phones.images", images.collect())];
    let put = place.sql.store().multi_put(rows, &BulkPutOptions::default()).unwrap();
    assert_eq!((put.failures.len(), put.report.total.existed), (0, 0));
    Some(Shop { place, phones, pictures })
}

/// `(maker, price, id, image, bytes)` of every picture wanted, in the order of the key.
type Picture = (String, i64, i64, i64, Vec<u8>);

#[test]
fn phones_with_pictures_are_the_same_by_sql_and_by_bulk_get() {
    let Some(shop) = shop() else { return };
    let wanted: Vec<&Phone> = shop.phones.iter().filter(|phone| phone.is_wanted()).collect();
    assert!(wanted.len() > 100, "{}", wanted.len());

    let condition =
        "maker IN ('Apple', 'SAMSUNG', 'Nokia', 'Motorola') AND price BETWEEN 15000 AND 40000";
    let expected: Vec<_> = wanted.iter().map(|phone| phone.texts()).collect();
    let by_sql = shop.place.rows(format!(
        "SELECT maker, price, id, model FROM phones WHERE {condition} ORDER BY maker, price, id"
    ));
    assert_eq!(by_sql, expected);
    let bound = Request::new(
        "SELECT maker, price, id, model FROM phones WHERE maker IN ($1, $2, $3, $4) AND price >= :low AND price <= :high ORDER BY 1, 2, 3",
    );
    let bound = MAKERS
        .iter()
        .fold(bound, |request, maker| request.bind(*maker))
        .named("low", *PRICES.start())
        .named("high", *PRICES.end());
    assert_eq!(shop.place.rows(bound), expected);

    let number = |row: &Row, name: &str| row.get(name).unwrap().to_string().parse::<i64>().unwrap();
    let picture = |row: &Row| -> Picture {
        let Some(Value::Binary(bytes)) = row.get("data") else { panic!("{row:?}") };
        (
            row.get("maker").unwrap().to_string(),
            number(row, "price"),
            number(row, "id"),
            number(row, "image"),
            bytes.clone(),
        )
    };
    let expected_pictures: Vec<Picture> = wanted
        .iter()
        .flat_map(|phone| {
            let of_one = shop.pictures.get(&phone.id).into_iter().flatten().enumerate();
            of_one.map(|(image, data)| {
                (phone.maker.clone(), phone.price, phone.id, image as i64, data.clone())
            })
        })
        .collect();
    let query =
        format!("SELECT * FROM phones.images WHERE {condition} ORDER BY maker, price, id, image");
    let batch = shop.place.sql.execute(query).unwrap().into_rows().unwrap().into_batch().unwrap();
    let by_sql: Vec<Picture> =
        (0..batch.num_rows()).map(|row| picture(&Row::from_batch(&batch, row).unwrap())).collect();
    assert!(by_sql == expected_pictures, "the pictures by SQL are others");

    // One bulk get brings both, each phone followed by its pictures.
    let keys = KeySource::keys(MAKERS.map(|maker| vec![Value::from(maker)]));
    let options = BulkGetOptions {
        range: Some(FieldRange::of("price").from(*PRICES.start()).to(*PRICES.end())),
        relatives: vec!["phones.images".into()],
        direction: Direction::Forward,
        ..BulkGetOptions::default()
    };
    let (mut by_get, mut pictures_by_get) = (Vec::new(), Vec::new());
    for related in shop
        .place
        .sql
        .store()
        .table("phones")
        .unwrap()
        .bulk_get(keys, &options)
        .unwrap()
        .into_rows()
    {
        let related = related.unwrap();
        if &*related.table == "phones" {
            by_get.push(
                ["maker", "price", "id", "model"]
                    .map(|name| related.row.get(name).unwrap().to_string())
                    .to_vec(),
            );
        } else {
            pictures_by_get.push(picture(&related.row));
        }
    }
    // Keys are read in the order in which they were given to the shards, rows under one key in key
    // order.
    by_get.sort_by_key(|row| {
        (row[0].clone(), row[1].parse::<i64>().unwrap(), row[2].parse::<i64>().unwrap())
    });
    pictures_by_get.sort();
    assert_eq!(by_get, expected);
    assert!(pictures_by_get == expected_pictures, "the pictures by bulk get are others");
}

#[test]
fn a_join_brings_each_phone_with_the_number_of_its_pictures() {
    let Some(shop) = shop() else { return };
    let rows = shop.place.rows(
        "SELECT p.id, count(i.image), coalesce(sum(length(encode(i.data, 'hex')) / 2), 0) FROM phones p
         LEFT JOIN phones.images i ON i.maker = p.maker AND i.price = p.price AND i.id = p.id
         WHERE p.maker = 'Apple' AND p.price > 50000 GROUP BY p.id ORDER BY p.id",
    );
    let mut expected: Vec<_> =
        shop.phones.iter().filter(|phone| phone.maker == "Apple" && phone.price > 50_000).collect();
    expected.sort_by_key(|phone| phone.id);
    let expected: Vec<_> = expected
        .iter()
        .map(|phone| {
            let pictures = shop.pictures.get(&phone.id).map_or(&[][..], Vec::as_slice);
            [phone.id as usize, pictures.len(), pictures.iter().map(Vec::len).sum()]
                .map(|number| number.to_string())
                .to_vec()
        })
        .collect();
    assert!(expected.len() > 50);
    assert_eq!(rows, expected);
}

#[test]
fn what_makers_ask_and_how_they_are_rated() {
    let Some(shop) = shop() else { return };
    let rows = shop.place.rows(
        "SELECT maker, count(*), count(rating), min(price), max(price), avg(price), avg(rating) FROM phones GROUP BY maker ORDER BY maker",
    );
    let mut by_maker = BTreeMap::<&str, Vec<&Phone>>::new();
    shop.phones.iter().for_each(|phone| by_maker.entry(&phone.maker).or_default().push(phone));
    assert_eq!(rows.len(), by_maker.len());
    for (row, (maker, phones)) in rows.iter().zip(by_maker) {
        let ratings: Vec<f64> = phones.iter().filter_map(|phone| phone.rating).collect();
        let prices: Vec<i64> = phones.iter().map(|phone| phone.price).collect();
        let whole = [
            phones.len() as i64,
            ratings.len() as i64,
            *prices.iter().min().unwrap(),
            *prices.iter().max().unwrap(),
        ];
        assert_eq!(row[0], maker);
        assert_eq!(row[1..5], whole.map(|number| number.to_string()), "{maker}");
        assert_near(&row[5], prices.iter().sum::<i64>() as f64 / prices.len() as f64, maker);
        assert_near(&row[6], ratings.iter().sum::<f64>() / ratings.len() as f64, maker);
    }
}

#[test]
fn the_three_cheapest_of_each_maker_that_are_rated_well() {
    let Some(shop) = shop() else { return };
    let rows = shop.place.rows(
        "SELECT maker, price, id, model FROM (
             SELECT *, row_number() OVER (PARTITION BY maker ORDER BY price, id) AS place FROM phones WHERE rating >= 4.3
         ) WHERE place <= 3 ORDER BY maker, price, id",
    );
    let mut taken = BTreeMap::<&str, u32>::new();
    let well_rated =
        shop.phones.iter().filter(|phone| phone.rating.is_some_and(|rating| rating >= 4.3));
    let expected: Vec<_> = well_rated
        .filter(|phone| {
            let place = taken.entry(&phone.maker).or_default();
            *place += 1;
            *place <= 3
        })
        .map(Phone::texts)
        .collect();
    assert_eq!(rows, expected);
}
