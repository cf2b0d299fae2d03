// Runs once, when the volume is new: the services' user may read and write one database and nothing else.
db.getSiblingDB("lightstream").createUser({
  user: "lightstream",
  pwd: process.env.MONGO_PASSWORD,
  roles: [{ role: "readWrite", db: "lightstream" }],
});
