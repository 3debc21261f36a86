// Loads the packages of this folder. Each one adds its command or its database to the server.
import './mongod/register.ts'
import './drive/command.ts'
import './capacity/command.ts'
