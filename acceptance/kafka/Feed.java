import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.Future;
import javax.management.MBeanAttributeInfo;
import javax.management.MBeanServerConnection;
import javax.management.ObjectName;
import javax.management.remote.JMXConnector;
import javax.management.remote.JMXConnectorFactory;
import javax.management.remote.JMXServiceURL;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericData;
import org.apache.avro.generic.GenericDatumWriter;
import org.apache.avro.generic.GenericRecord;
import org.apache.avro.io.BinaryEncoder;
import org.apache.avro.io.EncoderFactory;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/** Makes topics, fills them with positions of ships, and prints what is in them. */
public class Feed {
    static final String POSITION = "{\"type\": \"record\", \"name\": \"Position\", \"fields\": ["
            + "{\"name\": \"ship\", \"type\": \"long\"},"
            + "{\"name\": \"at\", \"type\": {\"type\": \"long\", \"logicalType\": \"timestamp-millis\"}},"
            + "{\"name\": \"n\", \"type\": \"long\"},"
            + "{\"name\": \"lat\", \"type\": \"double\"}, {\"name\": \"lon\", \"type\": \"double\"},"
            + "{\"name\": \"knots\", \"type\": [\"null\", \"double\"]},"
            + "{\"name\": \"name\", \"type\": \"string\"}]}";
    private static final long START_MS = 1_767_225_600_000L;

    public static void main(String[] given) throws Exception {
        switch (given[1]) {
            case "topics":
                topics(given[0], List.of(given).subList(2, given.length));
                break;
            case "positions":
                positions(given[0], given[2], given[3].equals("avro"), Long.parseLong(given[4]),
                        Long.parseLong(given[5]), Integer.parseInt(given[6]));
                break;
            case "lines":
                lines(given[0], given[2]);
                break;
            case "metrics":
                metrics(given[0], given[2]);
                break;
            case "read":
                read(given[0], given[2], Long.parseLong(given[3]));
                break;
            default:
                throw new IllegalArgumentException(given[1]);
        }
    }

    private static void topics(String broker, List<String> topics) throws Exception {
        try (Admin admin = Admin.create(Map.of("bootstrap.servers", broker))) {
            List<NewTopic> made = new ArrayList<>();
            for (String topic : topics) {
                String[] parts = topic.split(":");
                made.add(new NewTopic(parts[0], Integer.parseInt(parts[1]), (short) 1));
            }
            admin.createTopics(made).all().get();
        }
    }

    private static KafkaProducer<byte[], byte[]> producer(String broker) {
        Properties properties = new Properties();
        properties.putAll(Map.of("bootstrap.servers", broker, "linger.ms", "20", "batch.size",
                "262144", "buffer.memory", "67108864"));
        return new KafkaProducer<>(properties, new ByteArraySerializer(),
                new ByteArraySerializer());
    }

    /** Positions by their numbers: ship `n % ships` sends one a second. */
    private static void positions(String broker, String topic, boolean isAvro, long from, long to,
            int ships) throws Exception {
        Schema schema = new Schema.Parser().parse(POSITION);
        GenericDatumWriter<GenericRecord> writer = new GenericDatumWriter<>(schema);
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        BinaryEncoder encoder = EncoderFactory.get().binaryEncoder(bytes, null);
        try (KafkaProducer<byte[], byte[]> producer = producer(broker)) {
            for (long n = from; n < to; n++) {
                long ship = n % ships;
                long at = START_MS + n / ships * 1000;
                double lat = 50 + n % 1000 / 1000.0;
                double lon = 4 + n % 777 / 777.0;
                byte[] value;
                if (isAvro) {
                    GenericData.Record record = new GenericData.Record(schema);
                    record.put("ship", ship);
                    record.put("at", at);
                    record.put("n", n);
                    record.put("lat", lat);
                    record.put("lon", lon);
                    record.put("knots", n % 10 == 0 ? null : n % 30 / 2.0);
                    record.put("name", "ship " + ship);
                    bytes.reset();
                    writer.write(record, encoder);
                    encoder.flush();
                    value = bytes.toByteArray();
                } else {
                    value = ("{\"ship\":" + ship + ",\"at\":" + at + ",\"n\":" + n + ",\"lat\":" + lat
                            + ",\"lon\":" + lon + ",\"knots\":"
                            + (n % 10 == 0 ? "null" : String.valueOf(n % 30 / 2.0))
                            + ",\"name\":\"ship " + ship + "\"}").getBytes(StandardCharsets.UTF_8);
                }
                byte[] key = Long.toString(ship).getBytes(StandardCharsets.UTF_8);
                producer.send(new ProducerRecord<>(topic, key, value), (sent, error) -> {
                    if (error != null) {
                        error.printStackTrace();
                        System.exit(1);
                    }
                });
            }
        }
    }

    /** Sends the lines of the input: a key, a tabulator, a value; `-` is none. */
    private static void lines(String broker, String topic) throws Exception {
        BufferedReader input = new BufferedReader(
                new InputStreamReader(System.in, StandardCharsets.UTF_8));
        try (KafkaProducer<byte[], byte[]> producer = producer(broker)) {
            List<Future<?>> sent = new ArrayList<>();
            for (String line = input.readLine(); line != null; line = input.readLine()) {
                String[] parts = line.split("\t", 2);
                sent.add(producer.send(new ProducerRecord<>(topic, bytes(parts[0]),
                        bytes(parts[1]))));
            }
            for (Future<?> each : sent) {
                each.get();
            }
        }
    }

    private static byte[] bytes(String text) {
        return text.equals("-") ? null : text.getBytes(StandardCharsets.UTF_8);
    }

    /** Prints what a topic has: key, value, and headers, with tabulators between. */
    private static void read(String broker, String topic, long waitMs) throws Exception {
        Map<String, Object> properties = Map.of("bootstrap.servers", broker,
                "auto.offset.reset", "earliest", "max.poll.records", "10000");
        StringBuilder out = new StringBuilder();
        try (KafkaConsumer<byte[], byte[]> consumer = new KafkaConsumer<>(properties,
                new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
            List<TopicPartition> partitions = new ArrayList<>();
            consumer.partitionsFor(topic).forEach(partition ->
                    partitions.add(new TopicPartition(topic, partition.partition())));
            consumer.assign(partitions);
            consumer.seekToBeginning(partitions);
            Map<TopicPartition, Long> ends = consumer.endOffsets(partitions);
            long deadline = System.currentTimeMillis() + waitMs;
            while (System.currentTimeMillis() < deadline && partitions.stream()
                    .anyMatch(partition -> consumer.position(partition) < ends.get(partition))) {
                for (ConsumerRecord<byte[], byte[]> record : consumer.poll(Duration.ofMillis(200))) {
                    out.append(text(record.key())).append('\t').append(text(record.value()));
                    for (Header header : record.headers()) {
                        out.append('\t').append(header.key()).append('=')
                                .append(text(header.value()).replaceAll("\\s+", " "));
                    }
                    out.append('\n');
                }
                System.out.print(out);
                out.setLength(0);
            }
        }
    }

    /** Prints the numbers of a connector's tasks that a worker tells over JMX. */
    private static void metrics(String worker, String connector) throws Exception {
        JMXServiceURL url = new JMXServiceURL("service:jmx:rmi:///jndi/rmi://" + worker + "/jmxrmi");
        try (JMXConnector client = JMXConnectorFactory.connect(url)) {
            MBeanServerConnection beans = client.getMBeanServerConnection();
            ObjectName wanted = new ObjectName("kafka.connect:connector=" + connector + ",*");
            for (ObjectName name : beans.queryNames(wanted, null)) {
                for (MBeanAttributeInfo attribute : beans.getMBeanInfo(name).getAttributes()) {
                    System.out.println(name + "\t" + attribute.getName() + "\t"
                            + beans.getAttribute(name, attribute.getName()));
                }
            }
        }
    }

    private static String text(byte[] bytes) {
        return bytes == null ? "-" : new String(bytes, StandardCharsets.UTF_8);
    }
}
