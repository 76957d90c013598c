package acceptance;

import java.io.IOException;
import java.util.Date;
import java.util.Map;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericDatumReader;
import org.apache.avro.generic.GenericRecord;
import org.apache.avro.io.BinaryDecoder;
import org.apache.avro.io.DecoderFactory;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.connect.data.SchemaAndValue;
import org.apache.kafka.connect.data.SchemaBuilder;
import org.apache.kafka.connect.data.Struct;
import org.apache.kafka.connect.data.Timestamp;
import org.apache.kafka.connect.errors.DataException;
import org.apache.kafka.connect.storage.Converter;

/**
 * Reads records of Avro by a schema that the setting `schema` holds. Converters that ask a registry
 * give a connector the same: a `Struct` with a schema.
 */
public class PlainAvro implements Converter {
    private Schema written;
    private org.apache.kafka.connect.data.Schema schema;
    private GenericDatumReader<GenericRecord> reader;
    private BinaryDecoder decoder;

    @Override
    public void configure(Map<String, ?> given, boolean isKey) {
        written = new Schema.Parser().parse(String.valueOf(given.get("schema")));
        reader = new GenericDatumReader<>(written);
        SchemaBuilder builder = SchemaBuilder.struct().name(written.getFullName());
        for (Schema.Field field : written.getFields()) {
            builder.field(field.name(), of(field.schema()));
        }
        schema = builder.build();
    }

    private static org.apache.kafka.connect.data.Schema of(Schema type) {
        switch (type.getType()) {
            case LONG:
                return type.getLogicalType() == null
                        ? org.apache.kafka.connect.data.Schema.INT64_SCHEMA : Timestamp.SCHEMA;
            case DOUBLE:
                return org.apache.kafka.connect.data.Schema.FLOAT64_SCHEMA;
            case STRING:
                return org.apache.kafka.connect.data.Schema.STRING_SCHEMA;
            case UNION:
                return org.apache.kafka.connect.data.Schema.OPTIONAL_FLOAT64_SCHEMA;
            default:
                throw new DataException("not read here: " + type);
        }
    }

    @Override
    public byte[] fromConnectData(String topic, org.apache.kafka.connect.data.Schema schema,
            Object value) {
        throw new DataException("not written here");
    }

    @Override
    public SchemaAndValue toConnectData(String topic, byte[] value) {
        if (value == null) {
            return SchemaAndValue.NULL;
        }
        try {
            decoder = DecoderFactory.get().binaryDecoder(value, decoder);
            GenericRecord record = reader.read(null, decoder);
            Struct struct = new Struct(schema);
            for (Schema.Field field : written.getFields()) {
                Object read = record.get(field.pos());
                boolean isTimestamp = Timestamp.LOGICAL_NAME.equals(
                        schema.field(field.name()).schema().name());
                struct.put(field.name(), isTimestamp ? new Date((Long) read)
                        : read instanceof CharSequence ? read.toString() : read);
            }
            return new SchemaAndValue(schema, struct);
        } catch (IOException | RuntimeException error) {
            throw new DataException("no record of Avro: " + error.getMessage(), error);
        }
    }

    @Override
    public ConfigDef config() {
        return new ConfigDef().define("schema", ConfigDef.Type.STRING,
                ConfigDef.NO_DEFAULT_VALUE, ConfigDef.Importance.HIGH, "The schema of records.");
    }
}
