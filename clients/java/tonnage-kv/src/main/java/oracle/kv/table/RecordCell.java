package oracle.kv.table;

import dev.tonnage.client.arrow.ArrowField;
import dev.tonnage.client.internal.Json;
import java.math.BigDecimal;
import java.sql.Timestamp;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Values with names. Names match in any case. */
class RecordCell extends Cell implements RecordValue {
    private final List<ArrowField> fields;
    private final Map<String, Object> values;

    RecordCell(List<ArrowField> fields, Map<String, Object> values) {
        super(FieldDef.Type.RECORD, values);
        this.fields = fields;
        this.values = values;
    }

    RecordCell(ColumnDef column, Object value) {
        this(column.members(), copied(value));
    }

    private static Map<String, Object> copied(Object value) {
        Map<String, Object> copy = new LinkedHashMap<>();
        ((Map<?, ?>) value).forEach((name, item) -> copy.put(name.toString(), item));
        return copy;
    }

    /** The values that are set, by the names of the columns. */
    Map<String, Object> values() {
        return values;
    }

    List<ArrowField> columns() {
        return fields;
    }

    private ArrowField column(String name) {
        for (ArrowField field : fields) {
            if (field.name().equalsIgnoreCase(name)) {
                return field;
            }
        }
        throw new IllegalArgumentException("there is no column `" + name + "`: " + getFieldNames());
    }

    RecordValue set(String name, Object value) {
        ArrowField column = column(name);
        ColumnDef def = new ColumnDef(column);
        values.put(column.name(), def.checked(column.name(), value));
        return this;
    }

    @Override
    public List<String> getFieldNames() {
        List<String> names = new ArrayList<>();
        fields.forEach(field -> names.add(field.name()));
        return names;
    }

    @Override
    public List<String> getFields() {
        return getFieldNames();
    }

    @Override
    public RecordValue clone() {
        return new RecordCell(fields, new LinkedHashMap<>(values));
    }

    @Override
    public void clear() {
        values.clear();
    }

    @Override
    public FieldValue get(String fieldName) {
        ArrowField column = column(fieldName);
        return values.containsKey(column.name())
                ? of(new ColumnDef(column), values.get(column.name())) : null;
    }

    @Override
    public FieldValue get(int position) {
        return get(fields.get(position).name());
    }

    @Override
    public int size() {
        return values.size();
    }

    @Override
    public boolean isEmpty() {
        return values.isEmpty();
    }

    @Override
    public void copyFrom(RecordValue source) {
        RecordCell from = (RecordCell) source;
        for (ArrowField field : fields) {
            from.values.forEach((name, value) -> {
                if (name.equalsIgnoreCase(field.name())) {
                    values.put(field.name(), value);
                }
            });
        }
    }

    @Override
    public boolean contains(String fieldName) {
        return fields.stream().anyMatch(field -> field.name().equalsIgnoreCase(fieldName));
    }

    @Override
    public FieldValue remove(String fieldName) {
        FieldValue before = get(fieldName);
        values.remove(column(fieldName).name());
        return before;
    }

    @Override
    public RecordValue put(String fieldName, int value) {
        return set(fieldName, value);
    }

    @Override
    public RecordValue put(String fieldName, long value) {
        return set(fieldName, value);
    }

    @Override
    public RecordValue put(String fieldName, String value) {
        return set(fieldName, value);
    }

    @Override
    public RecordValue put(String fieldName, double value) {
        return set(fieldName, value);
    }

    @Override
    public RecordValue put(String fieldName, float value) {
        return set(fieldName, value);
    }

    @Override
    public RecordValue put(String fieldName, boolean value) {
        return set(fieldName, value);
    }

    @Override
    public RecordValue put(String fieldName, byte[] value) {
        return set(fieldName, value);
    }

    @Override
    public RecordValue put(String fieldName, Timestamp value) {
        return set(fieldName, Cell.moment(value));
    }

    @Override
    public RecordValue put(String fieldName, FieldValue value) {
        return set(fieldName, Cell.plain(value));
    }

    @Override
    public RecordValue putFixed(String fieldName, byte[] value) {
        return set(fieldName, value);
    }

    @Override
    public RecordValue putEnum(String fieldName, String value) {
        return set(fieldName, value);
    }

    @Override
    public RecordValue putNumber(String fieldName, int value) {
        return set(fieldName, value);
    }

    @Override
    public RecordValue putNumber(String fieldName, long value) {
        return set(fieldName, value);
    }

    @Override
    public RecordValue putNumber(String fieldName, float value) {
        return set(fieldName, new BigDecimal(Float.toString(value)));
    }

    @Override
    public RecordValue putNumber(String fieldName, double value) {
        return set(fieldName, BigDecimal.valueOf(value));
    }

    @Override
    public RecordValue putNumber(String fieldName, BigDecimal value) {
        return set(fieldName, value);
    }

    @Override
    public RecordValue putJson(String fieldName, String jsonInput) {
        return set(fieldName, jsonInput);
    }

    @Override
    public RecordValue putArray(String fieldName, Object[] array) {
        return set(fieldName, Arrays.asList(array));
    }

    @Override
    public RecordValue putMap(String fieldName, Map<String, ?> map) {
        return set(fieldName, map);
    }

    @Override
    public RecordValue putRecord(String fieldName, Map<String, ?> map) {
        return set(fieldName, map);
    }

    @Override
    public RecordValue putNull(String fieldName) {
        return set(fieldName, null);
    }

    @Override
    public RecordValue putArray(String fieldName, Iterable<?> list) {
        List<Object> items = new ArrayList<>();
        list.forEach(items::add);
        return set(fieldName, items);
    }

    @Override
    public String toJsonString(boolean pretty) {
        StringBuilder text = new StringBuilder("{");
        for (ArrowField field : fields) {
            if (values.containsKey(field.name())) {
                text.append(text.length() > 1 ? "," : "").append(pretty ? "\n  " : "");
                text.append(Json.write(field.name())).append(pretty ? " : " : ":");
                Object value = values.get(field.name());
                boolean isDocument = value != null
                        && new ColumnDef(field).getType() == FieldDef.Type.JSON;
                text.append(isDocument ? value : Json.write(jsonOf(value)));
            }
        }
        return text.append(pretty ? "\n}" : "}").toString();
    }

    @Override
    public String toString() {
        return toJsonString(false);
    }
}
