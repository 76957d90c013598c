#!/usr/bin/env bash
# parquet-go stores Go's empty time as 1754-08-30, and the year 3000 as 1830.
#
# Seen with: github.com/parquet-go/parquet-go v0.32.0, the file read by its own reader.
# Behaviour: a time.Time field without a tag becomes a timestamp of nanoseconds in 64 bits, which
#   reach from 1677 to 2262. The writer takes time.UnixNano(), whose result is undefined outside of
#   that, and does not check. The empty time, January 1 of the year 1, is what every field holds that
#   nobody has set, so 1754 stands where NULL was meant.
# Output seen:
#   0001-01-01T00:00:00Z is stored as 1754-08-30T22:43:41.128654848Z
#   2022-01-03T06:00:00Z is stored as 2022-01-03T06:00:00Z
#   3000-01-01T00:00:00Z is stored as 1830-11-23T00:50:52.580896768Z
# What to do: use *time.Time or the tag "optional" for what may be missing, and the tag
#   timestamp(microsecond) for far dates. Before a load, look for rows of 1754.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
cat >go.mod <<'MOD'
module findings

go 1.24
MOD
cat >main.go <<'GO'
package main

import (
	"bytes"
	"fmt"
	"os"
	"time"

	"github.com/parquet-go/parquet-go"
)

type report struct {
	At time.Time
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

func main() {
	given := []report{
		{},
		{time.Date(2022, 1, 3, 6, 0, 0, 0, time.UTC)},
		{time.Date(3000, 1, 1, 0, 0, 0, 0, time.UTC)},
	}
	var file bytes.Buffer
	writer := parquet.NewGenericWriter[report](&file)
	_, err := writer.Write(given)
	must(err)
	must(writer.Close())
	rows, err := parquet.Read[report](bytes.NewReader(file.Bytes()), int64(file.Len()))
	must(err)
	for place, row := range rows {
		before, after := given[place].At, row.At.UTC()
		fmt.Println(before.Format(time.RFC3339Nano), "is stored as", after.Format(time.RFC3339Nano))
	}
	if rows[0].At.Year() != 1754 || rows[2].At.Year() != 1830 {
		fmt.Println("the behaviour has changed")
		os.Exit(1)
	}
}
GO
go get github.com/parquet-go/parquet-go@v0.32.0 2>go.log
go mod tidy 2>>go.log
go run -p 1 .
