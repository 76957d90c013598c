package oracle.kv.table;

import dev.tonnage.client.Result;
import dev.tonnage.client.arrow.ArrowField;
import dev.tonnage.client.arrow.ArrowType;
import dev.tonnage.client.internal.Json;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import oracle.kv.Mapping;
import oracle.kv.StatementResult;
import oracle.kv.StoreIteratorException;

/** What became of a statement. */
final class StatementRows implements StatementResult {
    private static final String CHANGED = "NumRowsChanged";

    private final Result result;

    StatementRows(Result result) {
        this.result = result;
    }

    private boolean isChange() {
        return !result.hasRows() && result.outcome().containsKey("inserted");
    }

    @Override
    public String getInfo() {
        return result.hasRows() ? "rows" : Json.write(result.outcome());
    }

    @Override
    public String getInfoAsJson() {
        return Json.write(result.outcome());
    }

    @Override
    public String getErrorMessage() {
        return null;
    }

    @Override
    public boolean isSuccessful() {
        return true;
    }

    @Override
    public boolean isDone() {
        return true;
    }

    @Override
    public boolean isCancelled() {
        return false;
    }

    @Override
    public String getResult() {
        return getKind() == Kind.DDL ? Json.write(result.outcome()) : null;
    }

    @Override
    public Kind getKind() {
        return result.hasRows() || isChange() ? Kind.QUERY : Kind.DDL;
    }

    @Override
    public TableIterator<RecordValue> iterator() {
        if (result.hasRows()) {
            return new Records();
        }
        List<ArrowField> fields = List.of(ArrowField.of(CHANGED, ArrowType.INT64, false));
        Map<String, Object> values = new LinkedHashMap<>(Map.of(CHANGED, result.changed()));
        List<RecordValue> records = isChange() ? List.of(new RecordCell(fields, values))
                : List.of();
        java.util.Iterator<RecordValue> one = records.iterator();
        return new TableIterator<RecordValue>() {
            @Override
            public boolean hasNext() {
                return one.hasNext();
            }

            @Override
            public RecordValue next() {
                return one.next();
            }

            @Override
            public void close() {
                // There is nothing to end.
            }
        };
    }

    @Override
    public void close() {
        result.close();
    }

    private final class Records implements TableIterator<RecordValue> {
        private final List<ArrowField> fields = Mapping.call(
                () -> result.rows().schema().fields());

        @Override
        public boolean hasNext() {
            try {
                return result.rows().hasNext();
            } catch (dev.tonnage.client.TonnageException error) {
                throw new StoreIteratorException(Mapping.fault(error), null);
            }
        }

        @Override
        public RecordValue next() {
            return new RecordCell(fields, result.rows().next().toMap());
        }

        @Override
        public void close() {
            result.close();
        }
    }
}
