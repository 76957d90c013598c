#!/usr/bin/env bash
# Kafka Connect's JSON converter reads whole numbers beyond 64 bits as other numbers.
#
# Seen with: org.apache.kafka:connect-json 4.4.0, schemas.enable=false.
# Behaviour: a message without schema has no types, and each whole number becomes a long. A number
#   that does not fit loses its upper bits: identifiers of unsigned 64 bits come out negative. There
#   is no error. A number with a decimal point becomes the nearest double instead.
# Output seen:
#   9223372036854775807 -> 9223372036854775807 (Long)
#   9223372036854775808 -> -9223372036854775808 (Long)
#   18446744073709551615 -> -1 (Long)
# What to do: write identifiers as JSON texts, or use messages with a schema. A store that reads the
#   topic's bytes itself keeps the number exact in a decimal column.
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
      <groupId>org.apache.kafka</groupId>
      <artifactId>connect-json</artifactId>
      <version>4.4.0</version>
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

cat >Wide.java <<'JAVA'
import java.util.Map;
import org.apache.kafka.connect.json.JsonConverter;

public class Wide {
    public static void main(String[] arguments) {
        JsonConverter converter = new JsonConverter();
        converter.configure(Map.of("schemas.enable", "false", "converter.type", "value"));
        String[] given = {"9223372036854775807", "9223372036854775808", "18446744073709551615"};
        Object[] expected = {Long.MAX_VALUE, Long.MIN_VALUE, -1L};
        boolean changed = false;
        for (int place = 0; place < given.length; place++) {
            Object read = converter.toConnectData("ids", given[place].getBytes()).value();
            String type = read.getClass().getSimpleName();
            System.out.println(given[place] + " -> " + read + " (" + type + ")");
            changed |= !read.equals(expected[place]);
        }
        if (changed) {
            System.out.println("the behaviour has changed");
            System.exit(1);
        }
    }
}
JAVA
java -cp 'jars/*' Wide.java
