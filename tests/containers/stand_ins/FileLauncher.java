import de.bwaldvogel.mongo.MongoServer;
import de.bwaldvogel.mongo.ServerVersion;
import de.bwaldvogel.mongo.backend.h2.H2Backend;

/** Serves the store in a file on all addresses: FILE PORT. A signal to stop closes it first, so that nothing is lost. */
public class FileLauncher {
    public static void main(String[] arguments) {
        H2Backend backend = new H2Backend(arguments[0]);
        backend.version(ServerVersion.MONGO_5_0);
        MongoServer server = new MongoServer(backend);
        server.bind("0.0.0.0", Integer.parseInt(arguments[1]));
        Runtime.getRuntime().addShutdownHook(new Thread(server::shutdownNow));
    }
}
