package oracle.kv.table;

import dev.tonnage.client.arrow.ArrowField;
import java.util.Arrays;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** An enumeration, whose texts the definition of its column has. */
final class EnumColumnDef extends ColumnDef implements EnumDef {
    /** A text in quotes; a quote within it stands twice. */
    private static final Pattern TEXT = Pattern.compile("'((?:[^']|'')*)'");

    private final String[] values;

    /** With a type such as `ENUM('a', 'b')`. */
    EnumColumnDef(ArrowField field, String type) {
        super(field);
        Matcher texts = TEXT.matcher(type);
        values = texts.results().map(text -> text.group(1).replace("''", "'"))
                .toArray(String[]::new);
    }

    @Override
    public String[] getValues() {
        return values.clone();
    }

    @Override
    public boolean isValidEnum(String value) {
        return Arrays.asList(values).contains(value);
    }
}
