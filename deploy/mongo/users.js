// Runs once, when the volume is new: the services' user may read and write one database and nothing else.
const { readFileSync } = require("fs");
db.getSiblingDB("lightstream").createUser({
  user: "lightstream",
  pwd: readFileSync("/run/secrets/mongo_password", "utf8").trim(),
  roles: [{ role: "readWrite", db: "lightstream" }],
});
