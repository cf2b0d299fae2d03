#!/bin/bash
# Runs once, when the volume is new: the services' user owns one schema of one database, and may create nothing else.
# pgvector is installed by the administrator, who alone may.
set -eu
psql --set=ON_ERROR_STOP=1 --username="$POSTGRES_USER" --dbname="$POSTGRES_DB" \
    --set=user="$POSTGRES_SERVICES_USER" --set=password="$(cat "$POSTGRES_SERVICES_PASSWORD_FILE")" <<'SQL'
CREATE EXTENSION vector;
CREATE ROLE :"user" LOGIN PASSWORD :'password';
CREATE SCHEMA lightstream AUTHORIZATION :"user";
REVOKE CREATE ON SCHEMA public FROM PUBLIC;
SQL
