#!/usr/bin/env bash
# Kafka Connect's JSON converter turns NaN and infinity into 0 between two connectors.
#
# Seen with: org.apache.kafka:connect-json 4.4.0.
# Behaviour: JSON has no NaN, and the converter writes the text "NaN" into a message whose schema
#   says double. The same converter, reading that message, asks the text for its number and gets 0.
#   So a sensor's "no value" arrives in the sink as a measurement of 0. There is no error.
# Output seen:
#   1.5 -> "payload":1.5 -> 1.5
#   NaN -> "payload":"NaN" -> 0.0
#   -Infinity -> "payload":"-Infinity" -> 0.0
# What to do: make NULL of such values in the source (an optional field), or use a binary converter.
#   A sink that reads the JSON itself should take the text of a double field as NaN, or refuse it.
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

cat >NotANumber.java <<'JAVA'
import java.util.Map;
import org.apache.kafka.connect.data.Schema;
import org.apache.kafka.connect.json.JsonConverter;

public class NotANumber {
    public static void main(String[] arguments) {
        JsonConverter converter = new JsonConverter();
        converter.configure(Map.of("schemas.enable", "true", "converter.type", "value"));
        boolean changed = false;
        for (double given : new double[] {1.5, Double.NaN, Double.NEGATIVE_INFINITY}) {
            byte[] message = converter.fromConnectData("depths", Schema.FLOAT64_SCHEMA, given);
            Object read = converter.toConnectData("depths", message).value();
            String text = new String(message);
            String payload = text.substring(text.indexOf("\"payload\""), text.length() - 1);
            System.out.println(given + " -> " + payload + " -> " + read);
            changed |= !read.equals(given == 1.5 ? 1.5 : 0.0);
        }
        if (changed) {
            System.out.println("the behaviour has changed");
            System.exit(1);
        }
    }
}
JAVA
java -cp 'jars/*' NotANumber.java
