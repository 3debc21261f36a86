// Loads the packages of this folder. Each one adds its commands or its database to the server.
import './mongod/register.ts'
import './shard/command.ts'
import './import/command.ts'
import './documents/command.ts'
import './drive/command.ts'
import './capacity/command.ts'
