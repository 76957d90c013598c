package dev.tonnage.kafka;

import dev.tonnage.client.Options;
import dev.tonnage.client.Tonnage;
import java.util.LinkedHashMap;
import java.util.Map;
import org.apache.kafka.common.config.AbstractConfig;
import org.apache.kafka.common.config.Config;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.common.config.ConfigDef.Importance;
import org.apache.kafka.common.config.ConfigDef.Type;
import org.apache.kafka.common.config.ConfigException;
import org.apache.kafka.common.config.ConfigValue;
import org.apache.kafka.common.config.types.Password;

/** The settings that say which server, and who calls: a sink and a source have them alike. */
abstract class ServerSettings extends AbstractConfig {
    static final String URL = "connection.url";
    static final String TOKEN = "connection.token";
    static final String USER = "connection.user";
    static final String PASSWORD = "connection.password";

    /** Throws for a setting that is wrong by itself. {@link #faults} tells of those that clash. */
    ServerSettings(ConfigDef definition, Map<String, String> properties) {
        super(definition, properties);
    }

    static ConfigDef define() {
        return new ConfigDef()
                .define(URL, Type.STRING, "http://localhost:7410", ServerSettings::checkUrl,
                        Importance.HIGH,
                        "The HTTP listener of the server: http://HOST:PORT or https://HOST:PORT.")
                .define(TOKEN, Type.PASSWORD, null, Importance.MEDIUM, "A token of a user.")
                .define(USER, Type.STRING, null, Importance.MEDIUM,
                        "A user, with connection.password.")
                .define(PASSWORD, Type.PASSWORD, null, Importance.MEDIUM, "The user's password.");
    }

    private static void checkUrl(String name, Object value) {
        String url = String.valueOf(value);
        if (!url.startsWith("http://") && !url.startsWith("https://")) {
            throw new ConfigException(name, value, "give http://HOST:PORT or https://HOST:PORT");
        }
    }

    /** Settings that do not go together: the name of one, and what to do about it. */
    Map<String, String> faults() {
        Map<String, String> faults = new LinkedHashMap<>();
        if (getString(USER) != null && getPassword(PASSWORD) == null) {
            faults.put(PASSWORD, USER + " is given: give " + PASSWORD + ", too");
        }
        if (getString(USER) == null && getPassword(PASSWORD) != null) {
            faults.put(USER, PASSWORD + " is given: give " + USER + ", too");
        }
        if (getString(USER) != null && getPassword(TOKEN) != null) {
            faults.put(TOKEN, USER + " is given, too: give one of them");
        }
        return faults;
    }

    /** Throws for the first of {@link #faults}. */
    void check() {
        faults().forEach((name, fault) -> {
            throw new ConfigException(name + ": " + fault);
        });
    }

    /** Adds the faults to what is known of each setting. */
    void tellFaults(Config config) {
        Map<String, String> faults = faults();
        for (ConfigValue value : config.configValues()) {
            String fault = faults.get(value.name());
            if (fault != null) {
                value.addErrorMessage(value.name() + ": " + fault);
            }
        }
    }

    /** Whether each setting is right by itself. */
    static boolean isRight(Config config) {
        return config.configValues().stream().allMatch(value -> value.errorMessages().isEmpty());
    }

    /** Connects to the server. */
    Tonnage connect() {
        Options options = new Options();
        Password token = getPassword(TOKEN);
        if (token != null) {
            options.token(token.value());
        } else if (getString(USER) != null) {
            options.user(getString(USER), getPassword(PASSWORD).value());
        }
        try {
            return Tonnage.connect(getString(URL), options);
        } catch (IllegalArgumentException error) {
            throw new ConfigException(URL, getString(URL), error.getMessage());
        }
    }
}
