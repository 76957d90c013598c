#!/usr/bin/env bash
# opencsv takes the backslashes out of texts in CSV.
#
# Seen with: com.opencsv:opencsv 5.12.0.
# Behaviour: CSV has no backslash escapes (RFC 4180). opencsv's reader has them by default, and takes
#   a backslash out of any text: C:\temp becomes C:temp. Its own writer leaves backslashes alone, so
#   that what it wrote is not what it reads.
# Output seen:
#   written C:\temp\new -> read C:tempnew
#   with RFC4180Parser  -> read C:\temp\new
# What to do: build the reader with RFC4180Parser. Where a table lacks its backslashes, ask whether
#   opencsv read its files.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
cat >pom.xml <<'XML'
<project>
  <modelVersion>4.0.0</modelVersion>
  <groupId>findings</groupId>
  <artifactId>classpath</artifactId>
  <version>1</version>
  <dependencies>
    <dependency>
      <groupId>com.opencsv</groupId>
      <artifactId>opencsv</artifactId>
      <version>5.12.0</version>
    </dependency>
    <dependency>
      <groupId>org.slf4j</groupId>
      <artifactId>slf4j-nop</artifactId>
      <version>1.7.36</version>
    </dependency>
  </dependencies>
</project>
XML
mvn --batch-mode --quiet dependency:copy-dependencies -DoutputDirectory=jars >maven.log

cat >Backslashes.java <<'JAVA'
import com.opencsv.CSVReader;
import com.opencsv.CSVReaderBuilder;
import com.opencsv.CSVWriter;
import com.opencsv.RFC4180Parser;
import java.io.StringReader;
import java.io.StringWriter;

public class Backslashes {
    public static void main(String[] arguments) throws Exception {
        String given = "C:\\temp\\new";
        StringWriter text = new StringWriter();
        CSVWriter writer = new CSVWriter(text);
        writer.writeNext(new String[] {given, "x"});
        writer.close();
        CSVReader plain = new CSVReader(new StringReader(text.toString()));
        CSVReader strict = new CSVReaderBuilder(new StringReader(text.toString()))
            .withCSVParser(new RFC4180Parser()).build();
        String read = plain.readNext()[0];
        String kept = strict.readNext()[0];
        System.out.println("written " + given + " -> read " + read);
        System.out.println("with RFC4180Parser  -> read " + kept);
        if (!read.equals("C:tempnew") || !kept.equals(given)) {
            System.out.println("the behaviour has changed");
            System.exit(1);
        }
    }
}
JAVA
java -cp 'jars/*' Backslashes.java
